package org.draftmill.operators.pool;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.draftmill.serializers.JobId;
import org.draftmill.serializers.StepMarker;
import org.junit.jupiter.api.Test;

/** Whatever the bytes, they are a state, an {@link IOException}, or of another run. */
class ShardStateFuzzTest {
  private static final int ROUNDS = 20_000;
  private static final PoolSettings SETTINGS = TestingSettings.of(100, 4).build();

  private static byte[] sound() throws IOException {
    List<StepMarker.Release> releases =
        List.of(
            new StepMarker.Release(new JobId(7, 0, 7, 1), false),
            new StepMarker.Release(new JobId(9, 0, 9, 2), true));
    return ShardStateFormat.write(
        new ShardState(0, 3, 12, new long[] {4, 5, 8}, releases), SETTINGS);
  }

  @Test
  void flippedBitsAreReadOrRefused() throws IOException {
    byte[] sound = sound();
    ShardStateFormat.read(sound, SETTINGS);
    Random random = new Random(22);
    for (int round = 0; round < ROUNDS; round++) {
      byte[] bytes = sound.clone();
      for (int flips = 1 + random.nextInt(4); flips > 0; flips--) {
        bytes[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(8));
      }
      try {
        ShardStateFormat.read(bytes, SETTINGS);
      } catch (IOException | IllegalConfigurationException refused) {
        // as documented
      }
    }
  }

  @Test
  void everyTruncationAndEveryAdditionIsRefused() throws IOException {
    byte[] sound = sound();
    for (int length = 0; length <= sound.length + 8; length++) {
      byte[] other = Arrays.copyOf(sound, length);
      if (length != sound.length) {
        assertThatThrownBy(() -> ShardStateFormat.read(other, SETTINGS))
            .as("%d bytes", length)
            .isInstanceOf(IOException.class);
      }
    }
  }

  @Test
  void aCountBeyondTheBytesIsRefusedBeforeItIsAllocated() throws IOException {
    byte[] forged = sound();
    forged[60] = 0x7f; // two billion places
    assertThatThrownBy(() -> ShardStateFormat.read(forged, SETTINGS))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("places, but");
  }
}
