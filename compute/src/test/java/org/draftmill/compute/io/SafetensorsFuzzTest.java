package org.draftmill.compute.io;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import org.draftmill.compute.InputException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whatever the bytes, a file is read or refused by an {@link InputException}: nothing else. */
class SafetensorsFuzzTest {
  private static final int ROUNDS = 1500;

  @TempDir Path folder;

  @Test
  void survivesFlippedBits() throws IOException {
    byte[] good = example();
    Random random = new Random(11);
    int refused = 0;
    for (int round = 0; round < ROUNDS; round++) {
      byte[] bad = good.clone();
      for (int flips = 1 + random.nextInt(3); flips > 0; flips--) {
        bad[random.nextInt(bad.length)] ^= (byte) (1 << random.nextInt(8));
      }
      refused += readOrRefuse(bad) ? 0 : 1;
    }
    assertThat(refused).isGreaterThan(ROUNDS / 4);
  }

  @Test
  void refusesEveryTruncation() throws IOException {
    byte[] good = example();
    for (int length = 0; length < good.length; length++) {
      assertThat(readOrRefuse(Arrays.copyOf(good, length))).as("first %d bytes", length).isFalse();
    }
  }

  @Test
  void survivesRandomHeaders() throws IOException {
    String[] pieces = {
      "{",
      "}",
      "[",
      "]",
      ":",
      ",",
      "\"a\"",
      "\"dtype\"",
      "\"shape\"",
      "\"data_offsets\"",
      "\"F32\"",
      "0",
      "1",
      "8",
      "-1",
      "1e9",
      "9223372036854775807",
      "null",
      "true",
      "\"__metadata__\"",
      "\u00e4"
    };
    Random random = new Random(12);
    for (int round = 0; round < ROUNDS; round++) {
      StringBuilder header = new StringBuilder("{\"a\":{");
      for (int i = random.nextInt(20); i > 0; i--) {
        header.append(pieces[random.nextInt(pieces.length)]);
      }
      byte[] json = header.toString().getBytes(StandardCharsets.UTF_8);
      byte[] file = new byte[8 + json.length + random.nextInt(9)];
      file[0] = (byte) json.length;
      file[1] = (byte) (json.length >> 8);
      System.arraycopy(json, 0, file, 8, json.length);
      readOrRefuse(file);
    }
  }

  private byte[] example() throws IOException {
    Path path = folder.resolve("good.safetensors");
    new SafetensorsWriter()
        .metadata("format", "pt")
        .floats("w", new float[] {1, 2, 3, 4}, 2, 2)
        .longs("ids", new long[] {7, 8, 9}, 3)
        .write(path);
    return Files.readAllBytes(path);
  }

  private boolean readOrRefuse(byte[] bytes) throws IOException {
    Path path = Files.write(folder.resolve("fuzzed.safetensors"), bytes);
    try (SafetensorsFile file = SafetensorsFile.open(path)) {
      for (StoredTensor tensor : file.tensors().values()) {
        assertThat(tensor.map(0, tensor.bytes()).remaining()).isLessThanOrEqualTo(bytes.length);
      }
      return true;
    } catch (InputException e) {
      assertThat(e).hasMessageContaining(path.toString());
      return false;
    }
  }
}
