package org.draftmill.serializers;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.zip.CRC32C;

/**
 * The first 16 bytes of every record, little-endian like all that follows:
 *
 * <pre>
 *   0        4         6      7       8          12         16
 *   +--------+---------+------+-------+----------+----------+- - -
 *   | magic  | version | kind | dtype | checksum | length   |  the record's own fields
 *   +--------+---------+------+-------+----------+----------+- - -
 *     4 bytes  uint16    uint8  uint8   CRC32C     int32
 * </pre>
 *
 * {@code length} counts all bytes of the record, these included. The checksum covers bytes 0–7 and
 * everything from byte 12 to the end that the record does not check otherwise.
 */
final class RecordEnvelope {
  static final int VERSION_AT = 4;
  static final int KIND_AT = 6;
  static final int DTYPE_AT = 7;
  static final int CHECKSUM_AT = 8;
  static final int LENGTH_AT = 12;
  static final int BYTES = 16;

  /** No record is longer: what claims to be is damaged. */
  static final int MAX_RECORD_BYTES = 1 << 30;

  /** Allocated on the word of a length field alone; more only as bytes arrive. */
  static final int TRUSTED_BYTES = 8 << 20;

  /** Where bytes come from: a {@code DataInputView} or a Kryo {@code Input}. */
  @FunctionalInterface
  interface Source {
    void readFully(byte[] target, int offset, int length) throws IOException;
  }

  /** What is particular to one kind of record. */
  record Format(String name, String magic, int version, int minBytes) {
    int magicBits() {
      return magic.charAt(0) | magic.charAt(1) << 8 | magic.charAt(2) << 16 | magic.charAt(3) << 24;
    }
  }

  private RecordEnvelope() {}

  static ByteBuffer view(byte[] bytes) {
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** Writes all but the checksum, which {@link #seal} adds when the record is complete. */
  static void start(ByteBuffer record, Format format, int kind, int dtype, int length) {
    record.putInt(0, format.magicBits());
    record.putShort(VERSION_AT, (short) format.version());
    record.put(KIND_AT, (byte) kind);
    record.put(DTYPE_AT, (byte) dtype);
    record.putInt(LENGTH_AT, length);
  }

  /** Sets the checksum over the first {@code checkedBytes} of the record. */
  static void seal(byte[] record, int checkedBytes) {
    view(record).putInt(CHECKSUM_AT, checksum(record, checkedBytes));
  }

  static void verify(byte[] record, int checkedBytes, Format format) throws RecordFormatException {
    int found = view(record).getInt(CHECKSUM_AT);
    int computed = checksum(record, checkedBytes);
    if (found != computed) {
      throw new RecordFormatException(
          "A %s is damaged: its checksum is %08x, its bytes give %08x."
              .formatted(format.name(), found, computed));
    }
  }

  private static int checksum(byte[] record, int checkedBytes) {
    CRC32C crc = new CRC32C();
    crc.update(record, 0, CHECKSUM_AT);
    crc.update(record, LENGTH_AT, checkedBytes - LENGTH_AT);
    return (int) crc.getValue();
  }

  /** Checks magic, version and length and returns the length. */
  static int check(byte[] record, Format format) throws RecordFormatException {
    if (record.length < BYTES) {
      throw new RecordFormatException(
          "A %s has at least %d bytes; %d were found."
              .formatted(format.name(), format.minBytes(), record.length));
    }
    ByteBuffer view = view(record);
    if (view.getInt(0) != format.magicBits()) {
      throw new RecordFormatException(
          "A %s begins with \"%s\"; the bytes %08x were found."
              .formatted(format.name(), format.magic(), Integer.reverseBytes(view.getInt(0))));
    }
    int version = Short.toUnsignedInt(view.getShort(VERSION_AT));
    if (version < 1 || version > format.version()) {
      throw unsupported("A " + format.name(), version, format.version());
    }
    int length = view.getInt(LENGTH_AT);
    if (length < format.minBytes() || length > MAX_RECORD_BYTES) {
      throw new RecordFormatException(
          "A %s says it has %d bytes; between %d and %d are possible."
              .formatted(format.name(), length, format.minBytes(), MAX_RECORD_BYTES));
    }
    return length;
  }

  static RecordFormatException unsupported(String what, int found, int newest) {
    return new RecordFormatException(
        what
            + " was written in version "
            + found
            + "; this build reads version"
            + (newest == 1 ? " 1." : "s 1 to " + newest + "."));
  }

  /** Checks that {@code record} is one whole record of the format. */
  static void checkWhole(byte[] record, Format format) throws RecordFormatException {
    int length = check(record, format);
    if (length != record.length) {
      throw new RecordFormatException(
          "A %s says it has %d bytes; %d were found."
              .formatted(format.name(), length, record.length));
    }
  }

  /**
   * Reads the first {@code wanted} bytes of a record, or all of it for {@code wanted} 0; the
   * returned array has just that size. Throws {@link EOFException} only where the source ends
   * before the first byte.
   */
  static byte[] read(Source source, Format format, int wanted) throws IOException {
    byte[] start = new byte[BYTES];
    source.readFully(start, 0, 1);
    try {
      source.readFully(start, 1, BYTES - 1);
      int length = check(start, format);
      int total = wanted == 0 ? length : wanted;
      byte[] record = Arrays.copyOf(start, Math.min(total, TRUSTED_BYTES));
      int filled = BYTES;
      while (true) {
        source.readFully(record, filled, record.length - filled);
        if (record.length == total) {
          return record;
        }
        filled = record.length;
        record = Arrays.copyOf(record, (int) Math.min(total, 2L * filled));
      }
    } catch (EOFException e) {
      throw new RecordFormatException("The bytes end within a " + format.name() + ".", e);
    }
  }

  /** Bytes rounded up so that what follows begins on a multiple of eight. */
  static long padded(long bytes) {
    return (bytes + 7) & ~7L;
  }
}
