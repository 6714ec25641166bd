package org.draftmill.serializers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.junit.jupiter.api.Test;

/** Damaged and hostile bytes end in the one documented exception and cost no memory. */
class RecordFuzzTest {
  private static final List<RecordSerializer<?>> SERIALIZERS =
      List.of(
          HiddenStateChunkSerializer.INSTANCE,
          StepMarkerSerializer.INSTANCE,
          DeliverySerializer.INSTANCE);

  private static <T> byte[] write(RecordSerializer<T> serializer, Random random)
      throws IOException {
    Object record =
        switch (SERIALIZERS.indexOf(serializer)) {
          case 0 -> TestingRecords.chunk(random);
          case 1 -> TestingRecords.marker(random);
          default -> TestingRecords.delivery(random);
        };
    DataOutputSerializer out = new DataOutputSerializer(64);
    serializer.serialize(serializer.type().cast(record), out);
    return out.getCopyOfBuffer();
  }

  private static Object read(RecordSerializer<?> serializer, byte[] bytes) throws IOException {
    return serializer.deserialize(new DataInputDeserializer(bytes));
  }

  private static void assertRefused(RecordSerializer<?> serializer, byte[] bytes, String what) {
    assertThatThrownBy(() -> read(serializer, bytes))
        .as(what)
        .isInstanceOf(RecordFormatException.class);
  }

  @Test
  void everyFlippedBitIsNoticed() throws IOException {
    Random random = new Random(1);
    for (RecordSerializer<?> serializer : SERIALIZERS) {
      for (int n = 0; n < 20; n++) {
        byte[] bytes = write(serializer, random);
        for (int at = 0; at < bytes.length; at++) {
          byte[] flipped = bytes.clone();
          flipped[at] ^= (byte) (1 << random.nextInt(8));
          assertRefused(serializer, flipped, serializer.type() + " flipped at " + at);
        }
      }
    }
  }

  @Test
  void everyTruncationIsNoticed() throws IOException {
    Random random = new Random(2);
    for (RecordSerializer<?> serializer : SERIALIZERS) {
      byte[] bytes = write(serializer, random);
      for (int length = 1; length < bytes.length; length++) {
        assertRefused(serializer, Arrays.copyOf(bytes, length), "cut to " + length);
      }
    }
  }

  /** Changed fields under a right checksum: either they still make sense, or they are refused. */
  @Test
  void hostileFieldsUnderARightChecksumAreRefusedOrMakeSense() throws IOException {
    Random random = new Random(3);
    int[] hostile = {0, 1, -1, 2, Integer.MAX_VALUE, Integer.MIN_VALUE, 1 << 30, 1 << 16};
    for (int n = 0; n < 20_000; n++) {
      RecordSerializer<?> serializer = SERIALIZERS.get(n % 3);
      byte[] bytes = write(serializer, random);
      int covered = serializer == DeliverySerializer.INSTANCE ? 32 : bytes.length;
      for (int changes = random.nextInt(1, 4); changes > 0; changes--) {
        int at = 4 * random.nextInt(1, Math.min(covered, 120) / 4);
        RecordEnvelope.view(bytes).putInt(at, hostile[random.nextInt(hostile.length)]);
      }
      RecordEnvelope.seal(bytes, covered);
      try {
        use(read(serializer, bytes));
      } catch (RecordFormatException expected) {
        assertThat(expected).hasMessageMatching("(A|The) .*");
      }
    }
  }

  private static void use(Object record) {
    assertThat(record.toString()).isNotEmpty();
    if (record instanceof HiddenStateChunk chunk) {
      chunk.documents();
      chunk.inputIds();
      chunk.lossMask();
      chunk.taps();
      chunk.finalStates();
      chunk.reason();
    }
  }

  @Test
  void randomBytesAreRefused() {
    Random random = new Random(4);
    for (int n = 0; n < 5_000; n++) {
      byte[] bytes = new byte[random.nextInt(1, 200)];
      random.nextBytes(bytes);
      assertRefused(SERIALIZERS.get(n % 3), bytes, "random bytes");
    }
  }

  @Test
  void aHugeLengthAllocatesNoMoreThanIsTrusted() throws IOException {
    for (RecordSerializer<?> serializer : SERIALIZERS) {
      byte[] bytes = write(serializer, new Random(5));
      RecordEnvelope.view(bytes).putInt(RecordEnvelope.LENGTH_AT, RecordEnvelope.MAX_RECORD_BYTES);
      if (serializer == DeliverySerializer.INSTANCE) {
        RecordEnvelope.seal(bytes, DeliveryFormat.HEADER_BYTES);
        RecordEnvelope.view(bytes)
            .putInt(
                DeliveryFormat.HEADER_BYTES + RecordEnvelope.LENGTH_AT,
                RecordEnvelope.MAX_RECORD_BYTES);
      }
      assertRefused(serializer, bytes, "huge"); // loads classes, which takes memory once
      long before = allocatedBytes();
      assertRefused(serializer, bytes, "huge");
      assertThat(allocatedBytes() - before).isLessThan(RecordEnvelope.TRUSTED_BYTES + (1L << 20));
    }
  }

  @Test
  void parsingAllocatesNothingThatTheBytesAskFor() {
    byte[] bytes = TestingRecords.hidden(new Random(6)).bytes().clone();
    RecordEnvelope.view(bytes).putInt(HiddenStateChunkFormat.DOCUMENTS_AT, 1 << 28);
    RecordEnvelope.seal(bytes, bytes.length);
    assertParsingRefuses(bytes); // loads classes, which takes memory once
    long before = allocatedBytes();
    assertParsingRefuses(bytes);
    assertThat(allocatedBytes() - before).isLessThan(1L << 20);
  }

  private static void assertParsingRefuses(byte[] bytes) {
    assertThatThrownBy(() -> HiddenStateChunkFormat.parse(bytes))
        .isInstanceOf(RecordFormatException.class);
  }

  /** Larger than what a length field is trusted for, so read in steps. */
  @Test
  void aLargeRecordComesBackWhole() throws IOException {
    HiddenStateChunk.Shape shape =
        new HiddenStateChunk.Shape(0, 1, 0, 1001, 1001, 5001, 0, HiddenDType.FLOAT32);
    HiddenStateChunk.Builder builder =
        HiddenStateChunk.builder(
            new JobId(1, 0, 1, 0), shape, List.of(new HiddenStateChunk.Document(0, 0, 1001)));
    byte[] noise = new byte[builder.taps().remaining()];
    new Random(7).nextBytes(noise);
    builder.taps().put(noise);
    HiddenStateChunk chunk = builder.build();
    assertThat(chunk.sizeInBytes()).isGreaterThan(2 * RecordEnvelope.TRUSTED_BYTES);
    DataOutputSerializer out = new DataOutputSerializer(64);
    HiddenStateChunkSerializer.INSTANCE.serialize(chunk, out);

    assertThat(read(HiddenStateChunkSerializer.INSTANCE, out.getCopyOfBuffer())).isEqualTo(chunk);
  }

  private static long allocatedBytes() {
    return ((com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean())
        .getThreadAllocatedBytes(Thread.currentThread().getId());
  }
}
