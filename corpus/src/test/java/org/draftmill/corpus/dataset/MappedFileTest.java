package org.draftmill.corpus.dataset;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MappedFileTest {
  /** Segments of 64 bytes, so that reads of every kind begin, end and lie across their borders. */
  @Test
  void readsAcrossTheBordersOfSegments(@TempDir Path directory) throws IOException {
    byte[] bytes = new byte[1_003];
    new Random(1).nextBytes(bytes);
    Path path = Files.write(directory.resolve("file"), bytes);
    ByteBuffer expected = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);

    MappedFile file = new MappedFile(path, 6);

    assertThat(file.length()).isEqualTo(1_003);
    for (int at = 0; at + 8 <= bytes.length; at++) {
      assertThat(file.byteAt(at)).isEqualTo(bytes[at]);
      assertThat(file.intAt(at)).isEqualTo(expected.getInt(at));
      assertThat(file.longAt(at)).isEqualTo(expected.getLong(at));
      byte[] copy = new byte[Math.min(200, bytes.length - at)];
      file.bytes(at, copy);
      assertThat(copy).isEqualTo(Arrays.copyOfRange(bytes, at, at + copy.length));
      int[] ints = new int[copy.length / 4];
      file.ints(at, ints);
      for (int i = 0; i < ints.length; i++) {
        assertThat(ints[i]).isEqualTo(expected.getInt(at + 4 * i));
      }
    }
  }
}
