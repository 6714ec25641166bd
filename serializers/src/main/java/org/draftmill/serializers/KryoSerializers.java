package org.draftmill.serializers;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.KryoException;
import com.esotericsoftware.kryo.Serializer;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import java.io.EOFException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.PipelineOptions;

/**
 * Kryo 5 serializers of the stream's records, for jobs that hold them where Flink's own serializers
 * do not reach: in a generic type, a collection, a class of one's own. They carry the very bytes of
 * the native serializers, the checksum included.
 *
 * <p>{@link #register} adds them to {@code pipeline.serialization-config}; in {@code config.yaml}
 * the same is
 *
 * <pre>{@code
 * pipeline.serialization-config:
 *   - org.draftmill.serializers.HiddenStateChunk: {type: kryo, kryo-type: registered, class: org.draftmill.serializers.KryoSerializers$OfHiddenStateChunk}
 *   - org.draftmill.serializers.StepMarker: {type: kryo, kryo-type: registered, class: org.draftmill.serializers.KryoSerializers$OfStepMarker}
 *   - org.draftmill.serializers.Delivery: {type: kryo, kryo-type: registered, class: org.draftmill.serializers.KryoSerializers$OfDelivery}
 * }</pre>
 */
public final class KryoSerializers {
  private KryoSerializers() {}

  /** Adds the three records to the configuration of a job, after what is registered there. */
  public static void register(Configuration configuration) {
    List<String> entries =
        new ArrayList<>(
            configuration.getOptional(PipelineOptions.SERIALIZATION_CONFIG).orElse(List.of()));
    entries.add(entry(HiddenStateChunk.class, OfHiddenStateChunk.class));
    entries.add(entry(StepMarker.class, OfStepMarker.class));
    entries.add(entry(Delivery.class, OfDelivery.class));
    configuration.set(PipelineOptions.SERIALIZATION_CONFIG, entries);
  }

  private static String entry(Class<?> record, Class<? extends Serializer<?>> serializer) {
    return "%s: {type: kryo, kryo-type: registered, class: %s}"
        .formatted(record.getName(), serializer.getName());
  }

  public static final class OfHiddenStateChunk extends OfRecord<HiddenStateChunk> {
    public OfHiddenStateChunk() {
      super(HiddenStateChunkSerializer.INSTANCE);
    }
  }

  public static final class OfStepMarker extends OfRecord<StepMarker> {
    public OfStepMarker() {
      super(StepMarkerSerializer.INSTANCE);
    }
  }

  public static final class OfDelivery extends OfRecord<Delivery> {
    public OfDelivery() {
      super(DeliverySerializer.INSTANCE);
    }
  }

  /** Bytes that are no record end in a {@link KryoException} with the documented cause. */
  private abstract static class OfRecord<T> extends Serializer<T> {
    private final RecordSerializer<T> serializer;

    OfRecord(RecordSerializer<T> serializer) {
      super(false, true);
      this.serializer = serializer;
    }

    @Override
    public void write(Kryo kryo, Output output, T value) {
      try {
        serializer.write(value, output::writeBytes);
      } catch (IOException e) {
        throw new KryoException(e);
      }
    }

    @Override
    public T read(Kryo kryo, Input input, Class<? extends T> type) {
      try {
        return serializer.read((target, offset, length) -> fill(input, target, offset, length));
      } catch (IOException e) {
        throw new KryoException(e.getMessage(), e);
      }
    }

    private static void fill(Input input, byte[] target, int offset, int length)
        throws EOFException {
      try {
        input.readBytes(target, offset, length);
      } catch (KryoException e) {
        EOFException end = new EOFException(e.getMessage());
        end.initCause(e);
        throw end;
      }
    }
  }
}
