package org.draftmill.serializers;

import java.io.IOException;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;

/**
 * Deliveries in the layout of {@link DeliveryFormat}: a header, then the carried record in bulk.
 */
public final class DeliverySerializer extends RecordSerializer<Delivery> {
  private static final long serialVersionUID = 1L;

  public static final DeliverySerializer INSTANCE = new DeliverySerializer();

  private DeliverySerializer() {}

  @Override
  Class<Delivery> type() {
    return Delivery.class;
  }

  @Override
  int formatVersion() {
    return DeliveryFormat.VERSION;
  }

  @Override
  void write(Delivery value, Sink sink) throws IOException {
    byte[] carried = DeliveryFormat.carried(value);
    sink.write(DeliveryFormat.header(value, carried.length), 0, DeliveryFormat.HEADER_BYTES);
    sink.write(carried, 0, carried.length);
  }

  @Override
  Delivery read(RecordEnvelope.Source source) throws IOException {
    return DeliveryFormat.read(source);
  }

  @Override
  public TypeSerializerSnapshot<Delivery> snapshotConfiguration() {
    return new Snapshot();
  }

  /** See {@link RecordSerializerSnapshot}. */
  public static final class Snapshot extends RecordSerializerSnapshot<Delivery> {
    public Snapshot() {
      super(INSTANCE);
    }
  }
}
