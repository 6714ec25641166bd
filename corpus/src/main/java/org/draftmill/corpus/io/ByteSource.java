package org.draftmill.corpus.io;

import java.io.IOException;
import java.io.InputStream;

/**
 * A file that can be read from any position, on whatever file system it lies.
 *
 * <p>Implementations are thread-safe; the streams they return are not.
 */
public interface ByteSource {
  /** Opens a stream whose first byte is the one at {@code position}; the caller closes it. */
  InputStream open(long position) throws IOException;

  /** Length in bytes. */
  long length() throws IOException;

  /** What to call the file in a message, as a rule its path. */
  String name();
}
