package org.draftmill.corpus;

/**
 * Something the user gave cannot be used: a file, a template, an option. The message is a full
 * sentence that names the place, what was found there and what to change.
 */
public final class InputException extends RuntimeException {
  public InputException(String message) {
    super(message);
  }

  public InputException(String message, Throwable cause) {
    super(message, cause);
  }
}
