package org.draftmill.operators.drafter.collective;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/**
 * What travels on a link between two processes, after the {@link Handshake}. Little-endian.
 *
 * <pre>
 *  byte  0        4      5           6          8          16      20          24
 *        | length | kind | operation | reserved | sequence | first | checksum  | payload
 *          int32    u8     u8          int16      int64      int32   CRC-32C     length bytes
 * </pre>
 *
 * {@code kind} is {@link #DATA}, elements {@code first …} of the array of operation number {@code
 * sequence}, or {@link #ALIVE}, which has no payload. The checksum covers bytes 0 to 20 and the
 * payload. A length above that of one piece is refused before anything is read.
 */
final class FrameFormat {
  static final int HEADER = 24;
  static final byte DATA = 1;
  static final byte ALIVE = 2;

  private static final int CHECKED = 20;

  private final ByteBuffer frame;
  private final CRC32C crc = new CRC32C();

  /**
   * @param most bytes of the largest payload
   */
  FrameFormat(int most) {
    frame = ByteBuffer.allocate(HEADER + most).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** The payload's place in the frame. */
  ByteBuffer payload() {
    return frame.clear().position(HEADER);
  }

  /** Completes a frame around the payload that was written to {@link #payload()}. */
  ByteBuffer write(byte kind, byte operation, long sequence, int first, int length) {
    frame.clear();
    frame.putInt(0, length);
    frame.put(4, kind);
    frame.put(5, operation);
    frame.putShort(6, (short) 0);
    frame.putLong(8, sequence);
    frame.putInt(16, first);
    frame.putInt(CHECKED, checksum(length));
    return frame.limit(HEADER + length);
  }

  /** Reads one frame; afterwards the accessors speak of it. Failures do not name the peer. */
  void read(InputStream in) throws IOException {
    fill(in, 0, HEADER);
    int length = length();
    if (length < 0 || length > frame.capacity() - HEADER) {
      throw new IOException(
          "it sent a frame of %d bytes where at most %d are allowed"
              .formatted(Integer.toUnsignedLong(length), frame.capacity() - HEADER));
    }
    if (kind() != DATA && (kind() != ALIVE || length != 0)) {
      throw new IOException(
          "it sent a frame of unknown kind %d with %d bytes".formatted(kind(), length));
    }
    fill(in, HEADER, length);
    if (frame.getInt(CHECKED) != checksum(length)) {
      throw new IOException("a frame of %d bytes was damaged on its way".formatted(length));
    }
  }

  int length() {
    return frame.getInt(0);
  }

  byte kind() {
    return frame.get(4);
  }

  byte operation() {
    return frame.get(5);
  }

  long sequence() {
    return frame.getLong(8);
  }

  int first() {
    return frame.getInt(16);
  }

  private void fill(InputStream in, int at, int count) throws IOException {
    if (in.readNBytes(frame.array(), at, count) < count) {
      throw new EOFException("it closed the connection");
    }
  }

  private int checksum(int length) {
    crc.reset();
    crc.update(frame.array(), 0, CHECKED);
    crc.update(frame.array(), HEADER, length);
    return (int) crc.getValue();
  }
}
