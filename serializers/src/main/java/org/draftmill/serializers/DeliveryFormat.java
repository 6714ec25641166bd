package org.draftmill.serializers;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * The bytes of a {@link Delivery}, version 1, little-endian: a header, then the record it carries
 * with its own envelope.
 *
 * <pre>
 *   at   size          what
 *   0    16            {@link RecordEnvelope}: magic "DMDL", version, kind (0 chunk, 1 marker), 0, checksum, length
 *   16   8   int64     step
 *   24   4   int32     drafter
 *   28   4   int32     0
 *   32   …             a {@link HiddenStateChunkFormat} or {@link StepMarkerFormat} record
 * </pre>
 *
 * The checksum covers the 32 bytes of the header but itself; the carried record has its own.
 */
public final class DeliveryFormat {
  public static final int VERSION = 1;

  static final int CHUNK = 0;
  static final int MARKER = 1;

  static final int STEP_AT = 16;
  static final int DRAFTER_AT = 24;
  static final int HEADER_BYTES = 32;

  static final RecordEnvelope.Format FORMAT =
      new RecordEnvelope.Format("delivery", "DMDL", VERSION, HEADER_BYTES + RecordEnvelope.BYTES);

  private DeliveryFormat() {}

  /** The header of {@code delivery}, which carries a record of {@code carriedBytes}. */
  static byte[] header(Delivery delivery, int carriedBytes) {
    ByteBuffer header = RecordEnvelope.view(new byte[HEADER_BYTES]);
    int kind = delivery.isMarker() ? MARKER : CHUNK;
    RecordEnvelope.start(header, FORMAT, kind, 0, HEADER_BYTES + carriedBytes);
    header.putLong(STEP_AT, delivery.step());
    header.putInt(DRAFTER_AT, delivery.drafter());
    RecordEnvelope.seal(header.array(), HEADER_BYTES);
    return header.array();
  }

  static byte[] carried(Delivery delivery) {
    return delivery.isMarker()
        ? StepMarkerFormat.bytes(delivery.marker())
        : delivery.chunk().bytes();
  }

  /** Reads header and carried record. */
  static Delivery read(RecordEnvelope.Source source) throws IOException {
    byte[] header = RecordEnvelope.read(source, FORMAT, HEADER_BYTES);
    RecordEnvelope.verify(header, HEADER_BYTES, FORMAT);
    ByteBuffer view = RecordEnvelope.view(header);
    int kind = view.get(RecordEnvelope.KIND_AT);
    RecordEnvelope.Format format =
        switch (kind) {
          case CHUNK -> HiddenStateChunkFormat.FORMAT;
          case MARKER -> StepMarkerFormat.FORMAT;
          default ->
              throw new RecordFormatException(
                  "A delivery is of kind " + kind + "; known are 0 and 1.");
        };
    byte[] carried = readCarried(source, format);
    if (HEADER_BYTES + carried.length != view.getInt(RecordEnvelope.LENGTH_AT)) {
      throw new RecordFormatException(
          "A delivery of %d bytes cannot carry %d."
              .formatted(view.getInt(RecordEnvelope.LENGTH_AT), carried.length));
    }
    return of(view.getInt(DRAFTER_AT), view.getLong(STEP_AT), kind, carried);
  }

  private static byte[] readCarried(RecordEnvelope.Source source, RecordEnvelope.Format format)
      throws IOException {
    try {
      return RecordEnvelope.read(source, format, 0);
    } catch (java.io.EOFException e) {
      throw new RecordFormatException("The bytes end within a delivery.", e);
    }
  }

  private static Delivery of(int drafter, long step, int kind, byte[] carried)
      throws RecordFormatException {
    try {
      if (kind == CHUNK) {
        return Delivery.of(drafter, step, HiddenStateChunkFormat.parse(carried));
      }
      Delivery delivery = Delivery.of(drafter, StepMarkerFormat.parse(carried));
      if (delivery.step() != step) {
        throw new IllegalArgumentException(
            "its step is " + step + ", its marker's is " + delivery.step());
      }
      return delivery;
    } catch (IllegalArgumentException e) {
      throw new RecordFormatException("A delivery cannot be right: " + e.getMessage() + ".", e);
    }
  }
}
