package org.draftmill.job.prepare;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipException;
import org.draftmill.corpus.InputException;

/**
 * Unpacks gzip, and refuses a bomb: what becomes many times larger than it was is no text, and its
 * last byte might come in a year.
 */
final class UnpackedStream extends FilterInputStream {
  /** Text becomes 3 to 20 times larger; the most that gzip can do is about 1,030. */
  static final int RATIO = 200;

  /** So much may come of however little. */
  private static final long FREE = 64 << 20;

  private static final int BUFFER = 1 << 16;

  private final String name;
  private final Counting packed;
  private final int ratio;
  private long unpacked;

  private UnpackedStream(String name, Counting packed, int ratio) throws IOException {
    super(new GZIPInputStream(packed, BUFFER));
    this.name = name;
    this.packed = packed;
    this.ratio = ratio;
  }

  /**
   * @param name of the file, for messages
   * @param ratio how many times larger the content may be
   * @throws ZipException if it is no gzip
   */
  static UnpackedStream of(String name, InputStream packed, int ratio) throws IOException {
    return new UnpackedStream(name, new Counting(packed), ratio);
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] bytes, int offset, int length) throws IOException {
    int count = unpack(bytes, offset, length);
    unpacked += Math.max(0, count);
    if (unpacked > FREE && unpacked / ratio > packed.count) {
      throw new InputException(
          "The input %s becomes more than %d times larger when it is unpacked (%d bytes of the first %d): it looks like a bomb. If it is none, raise --max-unpack-ratio, or unpack it yourself."
              .formatted(name, ratio, unpacked, packed.count));
    }
    return count;
  }

  private int unpack(byte[] bytes, int offset, int length) throws IOException {
    try {
      return in.read(bytes, offset, length);
    } catch (StackOverflowError e) {
      // The JDK calls itself for every member that is empty.
      throw new ZipException("thousands of its members are empty");
    }
  }

  /** Counts what is taken of the packed bytes. */
  private static final class Counting extends FilterInputStream {
    private long count;

    Counting(InputStream in) {
      super(in);
    }

    @Override
    public int read() throws IOException {
      int value = in.read();
      count += value < 0 ? 0 : 1;
      return value;
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
      int read = in.read(bytes, offset, length);
      count += Math.max(0, read);
      return read;
    }
  }
}
