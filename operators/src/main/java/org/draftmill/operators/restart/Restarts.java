package org.draftmill.operators.restart;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.channels.ClosedChannelException;
import java.nio.file.FileSystemException;
import org.apache.flink.runtime.execution.SuppressRestartsException;

/** Judges which failures are worth a restart. */
public final class Restarts {
  private Restarts() {}

  /**
   * Wraps a failure so that Flink does not restart the job if that would end in the same one.
   *
   * @return the failure itself if the next attempt may fare better
   */
  public static Exception judge(Exception failure) {
    return arePointless(failure) ? new SuppressRestartsException(failure) : failure;
  }

  /**
   * Whether options or files are to blame, which stay as they are. What keeps a file from being
   * read this once does not count: an interruption, a network file system that does not answer.
   */
  public static boolean arePointless(Throwable failure) {
    if (!(failure instanceof org.draftmill.compute.InputException)
        && !(failure instanceof org.draftmill.corpus.InputException)) {
      return false;
    }
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (mayPass(cause)) {
        return false;
      }
    }
    return true;
  }

  /**
   * Whether this very exception tells of what kept a file from being read this once. The more
   * special exceptions speak of what is in a file, or that there is none.
   */
  public static boolean mayPass(Throwable cause) {
    return cause instanceof ClosedChannelException
        || cause instanceof InterruptedIOException
        || cause.getClass() == IOException.class
        || cause.getClass() == FileSystemException.class;
  }
}
