package org.draftmill.operators.drafter.state;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.Arrays;
import java.util.Random;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.junit.jupiter.api.Test;

/** Whatever Flink's state holds, it is a reference or an {@link IOException}. */
class ReferenceFuzzTest {
  private static final int ROUNDS = 20_000;

  private static byte[] sound() throws IOException {
    try (var in = ReferenceFuzzTest.class.getResourceAsStream("reference-v2.bin")) {
      return in.readAllBytes();
    }
  }

  private static void read(byte[] bytes) throws IOException {
    ReferenceFormat.read(new DataInputDeserializer(bytes));
  }

  @Test
  void flippedBitsAreReadOrRefused() throws IOException {
    byte[] sound = sound();
    Random random = new Random(21);
    for (int round = 0; round < ROUNDS; round++) {
      byte[] bytes = sound.clone();
      for (int flips = 1 + random.nextInt(4); flips > 0; flips--) {
        bytes[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(8));
      }
      try {
        read(bytes);
      } catch (IOException refused) {
        // as documented
      }
    }
  }

  @Test
  void everyTruncationIsRefused() throws IOException {
    byte[] sound = sound();
    for (int length = 0; length < sound.length; length++) {
      byte[] cut = Arrays.copyOf(sound, length);
      assertThatThrownBy(() -> read(cut)).isInstanceOf(IOException.class);
    }
  }
}
