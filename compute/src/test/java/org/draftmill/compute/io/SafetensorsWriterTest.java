package org.draftmill.compute.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SafetensorsWriterTest {
  @TempDir Path folder;

  @Test
  void writesTheSameBytesInWhateverOrderTensorsAreAnnounced() throws IOException {
    long[] ids = {1, 2};
    float[] values = {3, 4, 5};
    AtomicFile.Written one =
        new SafetensorsWriter()
            .metadata("b", "2")
            .metadata("a", "1")
            .floats("x", values, 3)
            .floats("w", values, 3)
            .longs("ids", ids, 2)
            .write(folder.resolve("one"));
    new SafetensorsWriter()
        .longs("ids", ids, 2)
        .floats("w", values, 3)
        .floats("x", values, 3)
        .metadata("a", "1")
        .metadata("b", "2")
        .write(folder.resolve("two"));

    byte[] bytes = Files.readAllBytes(folder.resolve("one"));
    assertThat(bytes).isEqualTo(Files.readAllBytes(folder.resolve("two")));
    assertThat(one.bytes()).isEqualTo(bytes.length);
    assertThat(one.crc32c()).isEqualTo(AtomicFile.crc32c(folder.resolve("two")));
    assertThat(ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getLong() % 8).isZero();
    try (SafetensorsFile file = SafetensorsFile.open(folder.resolve("one"))) {
      assertThat(file.tensors().keySet()).containsExactly("ids", "w", "x");
    }
  }

  @Test
  void leavesTheOldFileAndNothingElseWhenItFails() throws IOException {
    Path path = folder.resolve("model.safetensors");
    Files.writeString(path, "old");
    SafetensorsWriter failing =
        new SafetensorsWriter()
            .tensor(
                "w",
                TensorType.F32,
                new long[] {4},
                sink -> {
                  sink.append(ByteBuffer.allocate(8));
                  throw new IOException("No space left on device");
                });
    assertThatThrownBy(() -> failing.write(path)).hasMessage("No space left on device");
    assertThat(path).hasContent("old");
    assertThatFolderHoldsOnly("model.safetensors");
  }

  @Test
  void refusesContentOfAnotherLength() throws IOException {
    SafetensorsWriter shorter =
        new SafetensorsWriter()
            .tensor(
                "w", TensorType.F32, new long[] {4}, sink -> sink.append(ByteBuffer.allocate(8)));
    assertThatThrownBy(() -> shorter.write(folder.resolve("model.safetensors")))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContainingAll("'w'", "8", "16");
    assertThatFolderHoldsOnly();
  }

  @Test
  void refusesANameTwice() {
    SafetensorsWriter writer = new SafetensorsWriter().longs("ids", new long[1], 1);
    assertThatThrownBy(() -> writer.longs("ids", new long[1], 1))
        .isInstanceOf(IllegalArgumentException.class);
  }

  private void assertThatFolderHoldsOnly(String... names) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      assertThat(files.map(file -> file.getFileName().toString())).containsExactly(names);
    }
  }
}
