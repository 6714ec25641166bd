package org.draftmill.job.prepare;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.Arrays;
import org.draftmill.corpus.io.InputFile;

/**
 * Reads the lines that begin within a range of bytes. A line that runs over the end of the range is
 * read to its own end, one that began before the range is left to the range before. Lines end with
 * {@code \n} or {@code \r\n}.
 */
public final class LineReader implements Closeable {
  /** Longer lines are not held, only counted: no row of text is this long. */
  public static final int MAX_LINE_BYTES = 64 << 20;

  private final InputStream in;
  private final long length;
  private final int maxLineBytes;
  private final byte[] buffer = new byte[1 << 16];
  private int position;
  private int limit;
  private long consumed;
  private byte[] line = new byte[1 << 12];
  private int lineLength;
  private boolean tooLong;

  /**
   * @param in stands at the range's first byte, or one byte before it if {@code afterStart}
   * @param afterStart whether the range begins inside the file
   * @param length bytes of the range
   */
  LineReader(InputStream in, boolean afterStart, long length, int maxLineBytes) throws IOException {
    this.in = in;
    this.length = length;
    this.maxLineBytes = maxLineBytes;
    if (afterStart) {
      // If the byte before the range ends a line, the range begins with one.
      consumed = -1;
      nextLine(length); // a line beyond the range is not read by each range that it runs through
    }
  }

  /**
   * All lines of a file.
   *
   * @throws org.draftmill.corpus.InputException if it is no regular file, or must not be read
   */
  public static LineReader of(Path file) throws IOException {
    return new LineReader(InputFile.stream(file), false, Long.MAX_VALUE, MAX_LINE_BYTES);
  }

  /** Moves to the next line; false at the end of the range. */
  public boolean next() throws IOException {
    return consumed < length && nextLine(Long.MAX_VALUE);
  }

  /** The line that was moved to, without its end; null if it is longer than the limit. */
  public byte[] line() {
    if (tooLong) {
      return null;
    }
    int end = lineLength > 0 && line[lineLength - 1] == '\r' ? lineLength - 1 : lineLength;
    return Arrays.copyOf(line, end);
  }

  /**
   * @param end of what is read, in bytes of the range
   */
  private boolean nextLine(long end) throws IOException {
    lineLength = 0;
    tooLong = false;
    boolean any = false;
    while (consumed < end) {
      if (position == limit) {
        limit = in.read(buffer);
        position = 0;
        if (limit <= 0) {
          limit = 0;
          return any;
        }
      }
      any = true;
      int from = position;
      while (position < limit && buffer[position] != '\n') {
        position++;
      }
      append(from, position - from);
      consumed += position - from;
      if (position < limit) {
        position++;
        consumed++;
        return true;
      }
    }
    return any;
  }

  private void append(int from, int count) {
    if (tooLong || lineLength + (long) count > maxLineBytes) {
      tooLong = true;
      return;
    }
    if (lineLength + count > line.length) {
      line = Arrays.copyOf(line, Math.max(lineLength + count, 2 * line.length));
    }
    System.arraycopy(buffer, from, line, lineLength, count);
    lineLength += count;
  }

  @Override
  public void close() throws IOException {
    in.close();
  }
}
