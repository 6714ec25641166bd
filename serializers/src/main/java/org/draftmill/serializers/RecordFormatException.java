package org.draftmill.serializers;

import java.io.IOException;

/**
 * Bytes that are no record of this project, are damaged, or were written by a version that this one
 * cannot read. The one exception that reading a record throws, besides {@link java.io.EOFException}
 * where a stream ends before the first byte of a record.
 */
public final class RecordFormatException extends IOException {
  private static final long serialVersionUID = 1L;

  public RecordFormatException(String message) {
    super(message);
  }

  public RecordFormatException(String message, Throwable cause) {
    super(message, cause);
  }
}
