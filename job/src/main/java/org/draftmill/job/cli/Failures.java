package org.draftmill.job.cli;

import java.nio.file.AccessDeniedException;
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
    if (root instanceof AccessDeniedException denied) {
      return new Verdict(
          ExitCode.UNUSABLE, "%s: permission is denied.".formatted(denied.getFile()));
    }
    String said = message(root);
    String name = className(root);
    return new Verdict(ExitCode.FAILED, name.substring(name.lastIndexOf('.') + 1) + ": " + said);
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
