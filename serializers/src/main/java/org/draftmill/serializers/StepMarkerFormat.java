package org.draftmill.serializers;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * The bytes of a {@link StepMarker}, version 1, little-endian.
 *
 * <pre>
 *   at   size          what
 *   0    16            {@link RecordEnvelope}: magic "DMSM", version, 0, 0, checksum, length
 *   16   8   int64     step
 *   24   4   int32     shard
 *   28   4   int32  N  releases
 *   32   24·N          per release: position int64, epoch int32, index int32, bucket int32, tombstone int32 (0 or 1)
 * </pre>
 *
 * The checksum covers the whole record but itself.
 */
public final class StepMarkerFormat {
  public static final int VERSION = 1;

  static final int STEP_AT = 16;
  static final int SHARD_AT = 24;
  static final int RELEASES_AT = 28;
  static final int HEADER_BYTES = 32;
  static final int RELEASE_BYTES = 24;

  static final RecordEnvelope.Format FORMAT =
      new RecordEnvelope.Format("step marker", "DMSM", VERSION, HEADER_BYTES);

  private StepMarkerFormat() {}

  /**
   * @throws RecordFormatException if the bytes are not one whole, undamaged marker of a known
   *     version
   */
  public static StepMarker parse(byte[] record) throws RecordFormatException {
    RecordEnvelope.checkWhole(record, FORMAT);
    RecordEnvelope.verify(record, record.length, FORMAT);
    ByteBuffer view = RecordEnvelope.view(record);
    int count = view.getInt(RELEASES_AT);
    if (count < 0 || HEADER_BYTES + (long) RELEASE_BYTES * count != record.length) {
      throw new RecordFormatException(
          "A step marker of %d bytes cannot hold %d releases.".formatted(record.length, count));
    }
    List<StepMarker.Release> releases = new ArrayList<>(count);
    try {
      for (int at = HEADER_BYTES; at < record.length; at += RELEASE_BYTES) {
        JobId job =
            new JobId(
                view.getLong(at), view.getInt(at + 8), view.getInt(at + 12), view.getInt(at + 16));
        releases.add(new StepMarker.Release(job, tombstone(view.getInt(at + 20))));
      }
      return StepMarker.of(view.getLong(STEP_AT), view.getInt(SHARD_AT), releases);
    } catch (IllegalArgumentException e) {
      throw new RecordFormatException("A step marker cannot be right: " + e.getMessage(), e);
    }
  }

  private static boolean tombstone(int field) throws RecordFormatException {
    if (field != 0 && field != 1) {
      throw new RecordFormatException(
          "A step marker's tombstone field is " + field + "; known are 0 and 1.");
    }
    return field == 1;
  }

  /** The record of {@code marker}. */
  public static byte[] bytes(StepMarker marker) {
    int length = Math.toIntExact(HEADER_BYTES + (long) RELEASE_BYTES * marker.releases().size());
    ByteBuffer record = RecordEnvelope.view(new byte[length]);
    RecordEnvelope.start(record, FORMAT, 0, 0, length);
    record.putLong(STEP_AT, marker.step());
    record.putInt(SHARD_AT, marker.shard());
    record.putInt(RELEASES_AT, marker.releases().size());
    int at = HEADER_BYTES;
    for (StepMarker.Release release : marker.releases()) {
      record.putLong(at, release.job().position());
      record.putInt(at + 8, release.job().epoch());
      record.putInt(at + 12, release.job().index());
      record.putInt(at + 16, release.job().bucket());
      record.putInt(at + 20, release.tombstone() ? 1 : 0);
      at += RELEASE_BYTES;
    }
    RecordEnvelope.seal(record.array(), length);
    return record.array();
  }
}
