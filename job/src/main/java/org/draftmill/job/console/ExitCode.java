package org.draftmill.job.console;

/** How a command ended. */
public final class ExitCode {
  public static final int DONE = 0;

  /** Failed at run time. */
  public static final int FAILED = 1;

  /** The input or the options cannot be used. */
  public static final int UNUSABLE = 2;

  /** Stopped by a signal, after a clean stop. */
  public static final int INTERRUPTED = 130;

  private ExitCode() {}
}
