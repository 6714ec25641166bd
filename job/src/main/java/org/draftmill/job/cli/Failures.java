package org.draftmill.job.cli;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.util.SerializedThrowable;
import org.draftmill.job.console.ExitCode;
import org.draftmill.job.train.RunFailedException;

/** Turns a failure into the one line that a user needs and the exit code that a script needs. */
public final class Failures {
  /**
   * Unusable input, by name: Flink hands failures of tasks on as {@link SerializedThrowable}s that
   * keep the name of the class but not always the class.
   */
  private static final Set<String> UNUSABLE =
      Set.of(
          org.draftmill.compute.InputException.class.getName(),
          org.draftmill.corpus.InputException.class.getName(),
          IllegalConfigurationException.class.getName());

  private Failures() {}

  /**
   * @param message one line
   */
  public record Verdict(int exitCode, String message) {}

  /** Judges a failure by the causes that it wraps. */
  public static Verdict judge(Throwable failure) {
    List<Throwable> causes = causes(failure);
    for (Throwable cause : causes) {
      if (UNUSABLE.contains(className(cause))) {
        return new Verdict(ExitCode.UNUSABLE, message(cause));
      }
    }
    for (Throwable cause : causes) {
      if (cause instanceof RunFailedException) {
        return new Verdict(ExitCode.FAILED, message(cause));
      }
    }
    Throwable root = causes.get(causes.size() - 1);
    String said = message(root);
    String name = className(root);
    return new Verdict(ExitCode.FAILED, name.substring(name.lastIndexOf('.') + 1) + ": " + said);
  }

  /** What went wrong with a file, in words that do not repeat its name. */
  static String why(IOException e) {
    if (e instanceof NoSuchFileException) {
      return "its directory is not there";
    } else if (e instanceof AccessDeniedException) {
      return "permission is denied";
    } else if (e instanceof FileSystemException file && file.getReason() != null) {
      return file.getReason();
    }
    return String.valueOf(e.getMessage());
  }

  private static List<Throwable> causes(Throwable failure) {
    List<Throwable> causes = new ArrayList<>();
    for (Throwable t = failure; t != null && !causes.contains(t); t = t.getCause()) {
      causes.add(t);
    }
    return causes;
  }

  private static String className(Throwable t) {
    return t instanceof SerializedThrowable serialized
        ? serialized.getOriginalErrorClassName()
        : t.getClass().getName();
  }

  /** A serialized failure says its class before its message; that is taken off. */
  private static String message(Throwable t) {
    String message = t.getMessage();
    if (message == null) {
      return "no message (see -v or the log)";
    }
    String prefix = className(t) + ": ";
    return message.startsWith(prefix) ? message.substring(prefix.length()) : message;
  }
}
