package org.draftmill.serializers;

import org.apache.flink.api.common.serialization.SerializerConfig;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializer;

/**
 * The types of the stream with their native serializers, to be named where a stream or state of
 * them is declared. (Without it Flink takes the classes for generic types and goes through Kryo.)
 */
public final class RecordTypeInfo<T> extends TypeInformation<T> {
  private static final long serialVersionUID = 1L;

  public static final RecordTypeInfo<HiddenStateChunk> HIDDEN_STATE_CHUNK =
      new RecordTypeInfo<>(HiddenStateChunkSerializer.INSTANCE);
  public static final RecordTypeInfo<StepMarker> STEP_MARKER =
      new RecordTypeInfo<>(StepMarkerSerializer.INSTANCE);
  public static final RecordTypeInfo<Delivery> DELIVERY =
      new RecordTypeInfo<>(DeliverySerializer.INSTANCE);

  private final RecordSerializer<T> serializer;

  private RecordTypeInfo(RecordSerializer<T> serializer) {
    this.serializer = serializer;
  }

  @Override
  public TypeSerializer<T> createSerializer(SerializerConfig config) {
    return serializer;
  }

  @Override
  public Class<T> getTypeClass() {
    return serializer.type();
  }

  @Override
  public boolean isBasicType() {
    return false;
  }

  @Override
  public boolean isTupleType() {
    return false;
  }

  @Override
  public boolean isKeyType() {
    return false;
  }

  @Override
  public int getArity() {
    return 1;
  }

  @Override
  public int getTotalFields() {
    return 1;
  }

  @Override
  public boolean canEqual(Object other) {
    return other instanceof RecordTypeInfo;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof RecordTypeInfo<?> type && serializer.equals(type.serializer);
  }

  @Override
  public int hashCode() {
    return serializer.hashCode();
  }

  @Override
  public String toString() {
    return serializer.type().getSimpleName();
  }
}
