package org.draftmill.job.train;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeoutException;
import org.apache.flink.util.SerializedThrowable;
import org.draftmill.compute.InputException;
import org.draftmill.job.console.Text;
import org.draftmill.job.run.RunDirectory;
import org.draftmill.job.run.SavedState;
import org.draftmill.operators.restart.Restarts;

/** Recognizes failures of a whole run whose cause lies outside of it, and says what to do. */
final class FailureAdvice {
  private static final Set<String> FULL = Set.of("No space left on device", "Disk quota exceeded");

  /** As Flink says it of a task whose operators cannot be made ready from their state. */
  private static final String RESTORING = "Exception while creating StreamOperatorStateContext";

  /** As systems say it of a storage that does not answer just now; damage reads differently. */
  private static final Set<String> NOT_ANSWERING =
      Set.of("Input/output error", "timed out", "Stale file handle", "Host is down");

  private FailureAdvice() {}

  /** The failure in the words of a user, or itself if there is nothing to add. */
  static Exception explain(Exception failure, ResolvedRun run) {
    List<Throwable> causes = causes(failure);
    if (causes.stream().anyMatch(FailureAdvice::isFull)) {
      return new RunFailedException(fullDisk(run), failure);
    }
    return explainRestoring(failure, run.directory());
  }

  /** The same outside of the job, before it begins or when it has ended. */
  static Exception explain(IOException failure, RunDirectory run) {
    return causes(failure).stream().anyMatch(FailureAdvice::isFull)
        ? new RunFailedException(
            "The disk of %s is full, %s. Make room, and give the same command again."
                .formatted(run.root(), free(run)),
            failure)
        : failure;
  }

  /** Of a state that cannot be restored, and no more so the next time. */
  static Exception explainRestoring(Exception failure, RunDirectory run) {
    List<Throwable> causes = causes(failure);
    if (causes.stream().noneMatch(cause -> said(cause).contains(RESTORING))
        || causes.stream().anyMatch(FailureAdvice::mayPass)) {
      return failure;
    }
    Optional<SavedState> newest;
    try {
      newest = SavedState.list(run.checkpoints()).stream().findFirst();
    } catch (UncheckedIOException e) {
      failure.addSuppressed(e); // what happened is more than that it cannot be explained
      return failure;
    }
    if (newest.isEmpty()) {
      return failure;
    }
    return new InputException(
        "The checkpoint %s cannot be restored: %s Move it away, and the same command goes on from the one before."
            .formatted(newest.get().path(), sentence(causes.get(causes.size() - 1))),
        failure);
  }

  private static String fullDisk(ResolvedRun run) {
    return "The disk of %s is full: %s, and a run such as this takes up to %s. Make room; the same command then goes on from the last checkpoint, which is whole."
        .formatted(
            run.directory().root(),
            free(run.directory()),
            Text.bytes(Estimates.of(run, false).diskBytes()));
  }

  private static String free(RunDirectory run) {
    try {
      return Text.bytes(Files.getFileStore(run.root()).getUsableSpace()) + " are free";
    } catch (IOException e) {
      return "how much is free is not known";
    }
  }

  private static boolean isFull(Throwable cause) {
    return FULL.stream().anyMatch(said(cause)::contains);
  }

  /** A plain exception of the system and one that tells of damage differ in their words alone. */
  private static boolean mayPass(Throwable cause) {
    Throwable original =
        cause instanceof SerializedThrowable serialized
            ? serialized.deserializeError(FailureAdvice.class.getClassLoader())
            : cause;
    return original instanceof TimeoutException
        || (Restarts.mayPass(original)
            && (original.getClass() != IOException.class
                || NOT_ANSWERING.stream().anyMatch(said(original)::contains)));
  }

  private static String said(Throwable cause) {
    return String.valueOf(cause.getMessage());
  }

  /** The message without the class that a serialized failure puts in front of it. */
  private static String sentence(Throwable root) {
    String message = said(root);
    String name =
        root instanceof SerializedThrowable serialized
            ? serialized.getOriginalErrorClassName()
            : root.getClass().getName();
    String plain = message.startsWith(name + ": ") ? message.substring(name.length() + 2) : message;
    return root.getMessage() == null || plain.equals(name)
        ? "its bytes make no sense (" + name.substring(name.lastIndexOf('.') + 1) + ")."
        : plain;
  }

  private static List<Throwable> causes(Throwable failure) {
    List<Throwable> causes = new ArrayList<>();
    for (Throwable t = failure; t != null && !causes.contains(t); t = t.getCause()) {
      causes.add(t);
    }
    return causes;
  }
}
