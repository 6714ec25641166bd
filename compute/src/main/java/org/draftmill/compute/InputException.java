package org.draftmill.compute;

/**
 * Something a user gave cannot be used: a file, a value in it, an option. The message is one whole
 * sentence that names the place, the value found and what to change; the command line prints it
 * alone and ends with exit code 2.
 */
public class InputException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public InputException(String message) {
    super(message);
  }

  public InputException(String message, Throwable cause) {
    super(message, cause);
  }
}
