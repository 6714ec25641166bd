package org.draftmill.operators.drafter.state;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;
import org.draftmill.serializers.StepMarker;
import org.draftmill.serializers.StepMarkerSerializer;

/**
 * How a {@link SnapshotReference} lies in Flink's state. Big-endian; texts as by {@link
 * java.io.DataOutput#writeUTF}.
 *
 * <pre>
 * magic int32 | version int32 | path text | bytes int64 | crc32c int64 | rank int32 | size int32
 * | step int64 | skipped int64 (from version 2 on) | markers int32, each as by StepMarkerSerializer | pairs int32, each name text, value text
 * </pre>
 */
final class ReferenceFormat {
  static final int MAGIC = 0x444D5253; // "DMRS"
  static final int VERSION = 2;

  private static final int MOST = 1 << 16;

  private ReferenceFormat() {}

  static void write(SnapshotReference reference, DataOutputView out) throws IOException {
    out.writeInt(MAGIC);
    out.writeInt(VERSION);
    out.writeUTF(reference.path());
    out.writeLong(reference.bytes());
    out.writeLong(reference.crc32c());
    out.writeInt(reference.rank());
    out.writeInt(reference.size());
    out.writeLong(reference.step());
    out.writeLong(reference.skipped());
    out.writeInt(reference.markers().size());
    for (StepMarker marker : reference.markers()) {
      StepMarkerSerializer.INSTANCE.serialize(marker, out);
    }
    Map<String, String> identity = reference.identity().values();
    out.writeInt(identity.size());
    for (Map.Entry<String, String> entry : identity.entrySet()) {
      out.writeUTF(entry.getKey());
      out.writeUTF(entry.getValue());
    }
  }

  static SnapshotReference read(DataInputView in) throws IOException {
    int magic = in.readInt();
    if (magic != MAGIC) {
      throw new IOException(
          "The drafter's state begins with %08x instead of %08x: it is damaged or not of a drafter."
              .formatted(magic, MAGIC));
    }
    int version = in.readInt();
    if (version < 1 || version > VERSION) {
      throw new IOException(
          "The drafter's state is of version %d; this build reads versions 1 to %d."
              .formatted(version, VERSION));
    }
    try {
      return read(version, in);
    } catch (IllegalArgumentException e) {
      throw new IOException("The drafter's state is damaged: " + e.getMessage(), e);
    }
  }

  private static SnapshotReference read(int version, DataInputView in) throws IOException {
    String path = in.readUTF();
    long bytes = in.readLong();
    long crc32c = in.readLong();
    int rank = in.readInt();
    int size = in.readInt();
    long step = in.readLong();
    long skipped = version == 1 ? 0 : in.readLong();
    List<StepMarker> markers = new ArrayList<>();
    for (int left = count(in, "markers"); left > 0; left--) {
      markers.add(StepMarkerSerializer.INSTANCE.deserialize(in));
    }
    Map<String, String> identity = new LinkedHashMap<>();
    for (int left = count(in, "pinned values"); left > 0; left--) {
      identity.put(in.readUTF(), in.readUTF());
    }
    return new SnapshotReference(
        path, bytes, crc32c, rank, size, step, skipped, markers, new RunIdentity(identity));
  }

  private static int count(DataInputView in, String what) throws IOException {
    int count = in.readInt();
    if (count < 0 || count > MOST) {
      throw new IOException(
          "The drafter's state names %d %s; it is damaged.".formatted(count, what));
    }
    return count;
  }
}
