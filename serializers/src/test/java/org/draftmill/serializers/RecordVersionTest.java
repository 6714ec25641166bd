package org.draftmill.serializers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Bytes of every version ever written stay as resources and stay readable. When a layout changes,
 * its version goes up, a file joins the old ones here, and the old ones must still be read.
 */
class RecordVersionTest {
  record Written(String file, RecordSerializer<?> serializer, Object record) {
    byte[] bytes() throws IOException {
      try (InputStream in = getClass().getResourceAsStream("/records/" + file)) {
        return in.readAllBytes();
      }
    }

    @Override
    public String toString() {
      return file;
    }
  }

  static List<Written> versionOne() {
    return List.of(
        new Written("chunk-v1.bin", HiddenStateChunkSerializer.INSTANCE, chunk()),
        new Written(
            "tombstone-v1.bin",
            HiddenStateChunkSerializer.INSTANCE,
            HiddenStateChunk.tombstone(new JobId(7, 1, 2, 0), 40, "NaN in 3 of 40 rows")),
        new Written("marker-v1.bin", StepMarkerSerializer.INSTANCE, marker()),
        new Written(
            "delivery-chunk-v1.bin", DeliverySerializer.INSTANCE, Delivery.of(2, 9, chunk())),
        new Written(
            "delivery-marker-v1.bin", DeliverySerializer.INSTANCE, Delivery.of(3, marker())));
  }

  private static HiddenStateChunk chunk() {
    HiddenStateChunk.Builder builder =
        HiddenStateChunk.builder(
            new JobId(5_000_000_000L, 4, 1_000_000, 3),
            new HiddenStateChunk.Shape(1, 3, 2, 3, 9, 4, 2, HiddenDType.FLOAT32),
            List.of(
                new HiddenStateChunk.Document(6_000_000_000L, 3, 1),
                new HiddenStateChunk.Document(11, 4, 5)));
    builder.inputIds().asIntBuffer().put(new int[] {10, 20, 30});
    builder.lossMask().put(new byte[] {1, 0, 1});
    for (int i = 0; i < 12; i++) {
      builder.taps().putFloat(4 * i, i - 0.5f);
    }
    for (int i = 0; i < 6; i++) {
      builder.finalStates().putFloat(4 * i, 100 + i);
    }
    return builder.build();
  }

  private static StepMarker marker() {
    return StepMarker.of(
        77,
        1,
        List.of(
            new StepMarker.Release(new JobId(5_000_000_000L, 4, 1_000_000, 3), false),
            new StepMarker.Release(new JobId(7, 1, 2, 0), true)));
  }

  @ParameterizedTest
  @MethodSource("versionOne")
  void versionOneIsStillRead(Written written) throws IOException {
    Object read = written.serializer().deserialize(new DataInputDeserializer(written.bytes()));

    assertThat(read).isEqualTo(written.record());
  }

  @ParameterizedTest
  @MethodSource("versionOne")
  void versionOneIsWhatIsWritten(Written written) throws IOException {
    assertThat(write(written.serializer(), written.record())).isEqualTo(written.bytes());
  }

  private static <T> byte[] write(RecordSerializer<T> serializer, Object record)
      throws IOException {
    DataOutputSerializer out = new DataOutputSerializer(64);
    serializer.serialize(serializer.type().cast(record), out);
    return out.getCopyOfBuffer();
  }

  @ParameterizedTest
  @MethodSource("versionOne")
  void anUnknownVersionIsRefusedWithBothNamed(Written written) throws IOException {
    byte[] bytes = written.bytes();
    RecordEnvelope.view(bytes).putShort(RecordEnvelope.VERSION_AT, (short) 4711);

    assertThatThrownBy(() -> written.serializer().deserialize(new DataInputDeserializer(bytes)))
        .isInstanceOf(RecordFormatException.class)
        .hasMessageContaining("version 4711")
        .hasMessageContaining("reads version 1.");
  }
}
