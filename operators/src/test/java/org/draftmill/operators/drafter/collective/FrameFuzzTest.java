package org.draftmill.operators.drafter.collective;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Whatever comes over a connection, it is a frame or an {@link IOException}. */
class FrameFuzzTest {
  private static final int MOST = 256;
  private static final int ROUNDS = 5_000;

  private static byte[] frame(Random random) {
    FrameFormat format = new FrameFormat(MOST);
    byte[] payload = new byte[random.nextInt(MOST + 1)];
    random.nextBytes(payload);
    format.payload().put(payload);
    ByteBuffer written =
        format.write(
            FrameFormat.DATA, (byte) random.nextInt(6), random.nextLong(), 7, payload.length);
    byte[] bytes = new byte[written.remaining()];
    written.get(bytes);
    return bytes;
  }

  private static void read(byte[] bytes) throws IOException {
    new FrameFormat(MOST).read(new ByteArrayInputStream(bytes));
  }

  @Test
  void everyFlippedBitIsNoticed() throws IOException {
    Random random = new Random(31);
    for (int round = 0; round < ROUNDS; round++) {
      byte[] bytes = frame(random);
      read(bytes);
      bytes[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(8));
      assertThatThrownBy(() -> read(bytes)).isInstanceOf(IOException.class);
    }
  }

  @Test
  void everyTruncationIsNoticed() {
    byte[] bytes = frame(new Random(32));
    for (int length = 0; length < bytes.length; length++) {
      byte[] cut = Arrays.copyOf(bytes, length);
      assertThatThrownBy(() -> read(cut)).isInstanceOf(IOException.class);
    }
  }

  @Test
  void randomBytesAreNoFrame() {
    Random random = new Random(33);
    for (int round = 0; round < ROUNDS; round++) {
      byte[] bytes = new byte[random.nextInt(2 * MOST)];
      random.nextBytes(bytes);
      if (bytes.length > 3 && random.nextBoolean()) {
        bytes[2] = 0; // a length that might be
        bytes[3] = 0;
      }
      assertThatThrownBy(() -> read(bytes)).isInstanceOf(IOException.class);
    }
  }

  @Test
  void aLengthBeyondAPieceIsRefusedBeforeAnythingIsRead() {
    for (int length : new int[] {MOST + 1, Integer.MAX_VALUE, -1, Integer.MIN_VALUE}) {
      byte[] header = new byte[FrameFormat.HEADER];
      ByteBuffer.wrap(header).order(java.nio.ByteOrder.LITTLE_ENDIAN).putInt(length);
      ByteArrayInputStream in = new ByteArrayInputStream(Arrays.copyOf(header, 10_000));
      assertThatThrownBy(() -> new FrameFormat(MOST).read(in))
          .hasMessageContaining("it sent a frame of ")
          .hasMessageContaining("at most 256 are allowed");
      assertThat(in.available()).isEqualTo(10_000 - FrameFormat.HEADER);
    }
  }
}
