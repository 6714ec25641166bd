package org.draftmill.serializers;

import java.io.IOException;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;

/** Markers in the layout of {@link StepMarkerFormat}. */
public final class StepMarkerSerializer extends RecordSerializer<StepMarker> {
  private static final long serialVersionUID = 1L;

  public static final StepMarkerSerializer INSTANCE = new StepMarkerSerializer();

  private StepMarkerSerializer() {}

  @Override
  Class<StepMarker> type() {
    return StepMarker.class;
  }

  @Override
  int formatVersion() {
    return StepMarkerFormat.VERSION;
  }

  @Override
  void write(StepMarker value, Sink sink) throws IOException {
    byte[] record = StepMarkerFormat.bytes(value);
    sink.write(record, 0, record.length);
  }

  @Override
  StepMarker read(RecordEnvelope.Source source) throws IOException {
    return StepMarkerFormat.parse(RecordEnvelope.read(source, StepMarkerFormat.FORMAT, 0));
  }

  @Override
  public TypeSerializerSnapshot<StepMarker> snapshotConfiguration() {
    return new Snapshot();
  }

  /** See {@link RecordSerializerSnapshot}. */
  public static final class Snapshot extends RecordSerializerSnapshot<StepMarker> {
    public Snapshot() {
      super(INSTANCE);
    }
  }
}
