package org.draftmill.operators.jobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** State in checkpoints: old bytes stay readable, unknown and damaged ones are refused. */
class JobsStateTest {
  private static final ExtractionJob JOB =
      new ExtractionJob(5_000_000_000L, 3, 77, 4, new long[] {9, 6_000_000_000L, 0}, 4_096);
  private static final JobsState STATE =
      new JobsState(
          12_345_678_901L, List.of(new ExtractionJob(8, 0, 8, 0, new long[] {1}, 2), JOB));

  record Stored<T>(String file, SimpleVersionedSerializer<T> serializer, T value) {
    @Override
    public String toString() {
      return file;
    }
  }

  static List<Stored<?>> versionOne() {
    return List.of(
        new Stored<>("job-v1.bin", new ExtractionJobSerializer(), JOB),
        new Stored<>("jobs-state-v1.bin", new JobsStateSerializer(), STATE));
  }

  @ParameterizedTest
  @MethodSource("versionOne")
  <T> void versionOneIsReadAndWritten(Stored<T> stored) throws IOException {
    byte[] bytes = bytes(stored.file());

    assertThat(stored.serializer().deserialize(1, bytes)).isEqualTo(stored.value());
    assertThat(stored.serializer().serialize(stored.value())).isEqualTo(bytes);
    assertThat(stored.serializer().getVersion()).isEqualTo(1);
  }

  @ParameterizedTest
  @MethodSource("versionOne")
  <T> void unknownVersionsAreRefusedWithBothNamed(Stored<T> stored) throws IOException {
    byte[] bytes = bytes(stored.file());

    assertThatThrownBy(() -> stored.serializer().deserialize(2, bytes))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("version 2")
        .hasMessageContaining("reads version 1");
  }

  @ParameterizedTest
  @MethodSource("versionOne")
  <T> void truncatedBytesAreRefused(Stored<T> stored) throws IOException {
    byte[] bytes = bytes(stored.file());
    for (int length = 0; length < bytes.length; length++) {
      byte[] cut = Arrays.copyOf(bytes, length);
      assertThatThrownBy(() -> stored.serializer().deserialize(1, cut))
          .isInstanceOf(IOException.class);
    }
  }

  @ParameterizedTest
  @MethodSource("versionOne")
  <T> void flippedBitsAreReadOrRefused(Stored<T> stored) throws IOException {
    byte[] sound = bytes(stored.file());
    Random random = new Random(23);
    for (int round = 0; round < 20_000; round++) {
      byte[] bytes = sound.clone();
      for (int flips = 1 + random.nextInt(4); flips > 0; flips--) {
        bytes[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(8));
      }
      try {
        stored.serializer().deserialize(1, bytes);
      } catch (IOException refused) {
        // as documented
      }
    }
  }

  @Test
  void aHugeCountAllocatesNothing() throws IOException {
    byte[] bytes = bytes("job-v1.bin");
    bytes[24] = 0x7f;

    assertThatThrownBy(() -> new ExtractionJobSerializer().deserialize(1, bytes))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("sequences");
  }

  private static byte[] bytes(String file) throws IOException {
    try (InputStream in = JobsStateTest.class.getResourceAsStream("/jobs/" + file)) {
      return in.readAllBytes();
    }
  }
}
