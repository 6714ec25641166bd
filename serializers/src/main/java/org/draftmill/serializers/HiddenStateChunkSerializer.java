package org.draftmill.serializers;

import java.io.IOException;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;

/** Chunks in the layout of {@link HiddenStateChunkFormat}: one bulk copy each way. */
public final class HiddenStateChunkSerializer extends RecordSerializer<HiddenStateChunk> {
  private static final long serialVersionUID = 1L;

  public static final HiddenStateChunkSerializer INSTANCE = new HiddenStateChunkSerializer();

  private HiddenStateChunkSerializer() {}

  @Override
  Class<HiddenStateChunk> type() {
    return HiddenStateChunk.class;
  }

  @Override
  int formatVersion() {
    return HiddenStateChunkFormat.VERSION;
  }

  @Override
  void write(HiddenStateChunk value, Sink sink) throws IOException {
    sink.write(value.bytes(), 0, value.sizeInBytes());
  }

  @Override
  HiddenStateChunk read(RecordEnvelope.Source source) throws IOException {
    return HiddenStateChunkFormat.parse(
        RecordEnvelope.read(source, HiddenStateChunkFormat.FORMAT, 0));
  }

  @Override
  public TypeSerializerSnapshot<HiddenStateChunk> snapshotConfiguration() {
    return new Snapshot();
  }

  /** See {@link RecordSerializerSnapshot}. */
  public static final class Snapshot extends RecordSerializerSnapshot<HiddenStateChunk> {
    public Snapshot() {
      super(INSTANCE);
    }
  }
}
