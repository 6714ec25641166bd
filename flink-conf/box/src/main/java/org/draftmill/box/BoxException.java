package org.draftmill.box;

/** What a command of the box could not do, as a full sentence, and the exit code that says so. */
public final class BoxException extends RuntimeException {
  /** Something failed at run time. */
  public static final int FAILED = 1;

  /** Unusable options or input. */
  public static final int UNUSABLE = 2;

  private final int exitCode;

  private BoxException(int exitCode, String message) {
    super(message);
    this.exitCode = exitCode;
  }

  static BoxException failed(String message, Object... arguments) {
    return new BoxException(FAILED, message.formatted(arguments));
  }

  static BoxException unusable(String message, Object... arguments) {
    return new BoxException(UNUSABLE, message.formatted(arguments));
  }

  public int exitCode() {
    return exitCode;
  }
}
