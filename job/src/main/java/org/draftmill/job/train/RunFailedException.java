package org.draftmill.job.train;

/** A run failed for a reason that its user can do something about; the message says what. */
public final class RunFailedException extends Exception {
  private static final long serialVersionUID = 1L;

  RunFailedException(String message, Throwable cause) {
    super(message, cause);
  }
}
