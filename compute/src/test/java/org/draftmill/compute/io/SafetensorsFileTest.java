package org.draftmill.compute.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;
import org.draftmill.compute.DType;
import org.draftmill.compute.InputException;
import org.draftmill.compute.ops.Backend;
import org.draftmill.compute.ops.Matrix;
import org.draftmill.compute.ops.Workspace;
import org.draftmill.compute.reference.ReferenceBackend;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

class SafetensorsFileTest {
  @TempDir Path folder;

  @Test
  void givesBackWhatWasWritten() throws IOException {
    Path path = folder.resolve("a.safetensors");
    new SafetensorsWriter()
        .metadata("format", "pt")
        .floats("weights", new float[] {1.5f, -2, 3, Float.MIN_VALUE, 5, 6}, 2, 3)
        .longs("ids", new long[] {7, -8}, 2)
        .floats("empty", new float[0], 0, 4)
        .longs("scalar", new long[] {Long.MIN_VALUE})
        .write(path);

    try (SafetensorsFile file = SafetensorsFile.open(path)) {
      assertThat(file.metadata()).containsExactly(Map.entry("format", "pt"));
      assertThat(file.tensors()).containsOnlyKeys("ids", "scalar", "empty", "weights");
      assertThat(file.tensor("ids").readLongs()).containsExactly(7, -8);
      assertThat(file.tensor("scalar").shape()).isEmpty();
      assertThat(file.tensor("scalar").readLongs()).containsExactly(Long.MIN_VALUE);
      assertThat(file.tensor("empty").elements()).isZero();
      StoredTensor weights = file.tensor("weights").requireShape(2, 3);
      assertThat(weights.type()).isEqualTo(TensorType.F32);
      assertThat(weights.map(12, 4).getFloat()).isEqualTo(Float.MIN_VALUE);
    }
  }

  @Test
  void namesAMissingTensorAndAWrongShape() throws IOException {
    Path path = folder.resolve("a.safetensors");
    new SafetensorsWriter().longs("ids", new long[] {7, -8}, 2).write(path);
    try (SafetensorsFile file = SafetensorsFile.open(path)) {
      assertThatThrownBy(() -> file.tensor("norm"))
          .isInstanceOf(InputException.class)
          .hasMessageContainingAll("a.safetensors", "'norm'");
      assertThatThrownBy(() -> file.tensor("ids").requireShape(3))
          .isInstanceOf(InputException.class)
          .hasMessageContainingAll("a.safetensors", "'ids'", "[2]", "[3]");
    }
    assertThatThrownBy(() -> SafetensorsFile.open(folder.resolve("b.safetensors")))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("no such file");
  }

  @ParameterizedTest
  @EnumSource(DType.class)
  void decodesMatricesChunkByChunk(DType dtype) throws IOException {
    Path path = folder.resolve("a.safetensors");
    try (Backend backend = new ReferenceBackend();
        Workspace workspace = backend.workspace()) {
      float[] values = new float[7 * 3];
      for (int i = 0; i < values.length; i++) {
        values[i] = i - 3.5f;
      }
      Matrix matrix = workspace.matrix(7, 3, values);
      new SafetensorsWriter()
          .matrix("m", dtype, workspace, matrix)
          .vector("v", dtype, workspace, matrix.rows(2, 3))
          .write(path);
      try (SafetensorsFile file = SafetensorsFile.open(path)) {
        assertThat(file.tensor("v").requireShape(3).read(workspace).toArray())
            .isEqualTo(matrix.rows(2, 3).toArray());
        StoredTensor stored = file.tensor("m").requireShape(7, 3);
        assertThat(stored.read(workspace).toArray()).isEqualTo(values);
        for (int chunkRows = 0; chunkRows <= 8; chunkRows++) {
          Matrix read = workspace.matrix(7, 3);
          stored.readInto(workspace, read, chunkRows * 3 * dtype.bytes() + 1);
          assertThat(read.toArray()).as("%d rows at once", chunkRows).isEqualTo(values);
        }
      }
    }
  }

  @Test
  void refusesToDecodeWholeNumbers() throws IOException {
    Path path = folder.resolve("a.safetensors");
    new SafetensorsWriter().longs("ids", new long[] {7, -8}, 2).write(path);
    try (Backend backend = new ReferenceBackend();
        SafetensorsFile file = SafetensorsFile.open(path)) {
      assertThatThrownBy(() -> file.tensor("ids").read(backend.workspace()))
          .isInstanceOf(InputException.class)
          .hasMessageContainingAll("'ids'", "I64", "BF16");
    }
  }

  static Stream<Arguments> damages() {
    String good = "{'dtype':'F32','shape':[2],'data_offsets':[0,8]}";
    return Stream.of(
        Arguments.of("[1]", 0, "not a JSON object"),
        Arguments.of("{'a':3}", 0, "not an object"),
        Arguments.of("{'a':" + good + ",'a':" + good + "}", 8, "Duplicate field 'a'"),
        Arguments.of("{'a':" + good + "}x", 8, "not the JSON it should be"),
        Arguments.of("{'a':" + good + "} {}", 8, "follows"),
        Arguments.of("{'a':" + good, 8, "not the JSON it should be"),
        Arguments.of("{'a':" + good + "}", 7, "ends after 7"),
        Arguments.of("{'a':" + good + "}", 9, "goes on to byte 9"),
        Arguments.of("{'a':{'dtype':'F32','shape':[2],'data_offsets':[1,9]}}", 9, "byte 0 was due"),
        Arguments.of("{'a':" + good + ",'b':" + good + "}", 8, "overlap"),
        Arguments.of("{'a':{'dtype':'F32','shape':[3],'data_offsets':[0,8]}}", 8, "needs 12"),
        Arguments.of("{'a':{'dtype':'F32','shape':[2],'data_offsets':[8,0]}}", 8, "[8, 0]"),
        Arguments.of("{'a':{'dtype':'F32','shape':[2],'data_offsets':[0]}}", 8, "[begin, end]"),
        Arguments.of("{'a':{'dtype':'F32','shape':[-2],'data_offsets':[0,8]}}", 8, "holds -2"),
        Arguments.of(
            "{'a':{'dtype':'F32','shape':[2.5],'data_offsets':[0,8]}}", 8, "whole numbers"),
        Arguments.of("{'a':{'dtype':'F32','shape':2,'data_offsets':[0,8]}}", 8, "not a list"),
        Arguments.of(
            "{'a':{'dtype':'F32','shape':[4611686018427387904,4],'data_offsets':[0,0]}}",
            0,
            "impossible shape"),
        Arguments.of(
            "{'a':{'dtype':'F32','shape':[99999999999999999999],'data_offsets':[0,8]}}",
            8,
            "out of range"),
        Arguments.of("{'a':{'dtype':'F4','shape':[2],'data_offsets':[0,8]}}", 8, "'F4'"),
        Arguments.of("{'a':{'dtype':4,'shape':[2],'data_offsets':[0,8]}}", 8, "element type"),
        Arguments.of("{'a':{'dtype':'F32','shape':[2]}}", 8, "no data_offsets"),
        Arguments.of("{'a':{'dtype':'F32','shape':[2],'kind':[0,8]}}", 8, "unknown key 'kind'"),
        Arguments.of("{'__metadata__':{'a':1}}", 0, "not a string"),
        Arguments.of("{'a':{'dtype':'F32','shape':" + "[".repeat(99), 8, "whole numbers"));
  }

  @ParameterizedTest
  @MethodSource("damages")
  void refusesADamagedHeader(String header, int dataBytes, String message) throws IOException {
    Path path = write(header.replace('\'', '"').getBytes(StandardCharsets.UTF_8), dataBytes);
    assertThatThrownBy(() -> SafetensorsFile.open(path))
        .isInstanceOf(InputException.class)
        .hasMessageContainingAll(path.toString(), message.replace('"', '\''));
  }

  @Test
  void refusesHeaderLengthsThatTheFileDoesNotHave() throws IOException {
    for (long length : new long[] {-1, 0, 1, 100, 1L << 40, Long.MAX_VALUE, Long.MIN_VALUE}) {
      ByteBuffer bytes = ByteBuffer.allocate(20).order(ByteOrder.LITTLE_ENDIAN).putLong(length);
      Path path = Files.write(folder.resolve("bad"), bytes.array());
      assertThatThrownBy(() -> SafetensorsFile.open(path))
          .isInstanceOf(InputException.class)
          .hasMessageContaining(Long.toUnsignedString(length));
    }
    Path tiny = Files.write(folder.resolve("tiny"), new byte[5]);
    assertThatThrownBy(() -> SafetensorsFile.open(tiny))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("5 bytes");
  }

  @Test
  void readsATensorBeyondTwoGigabytes() throws IOException {
    long rows = (1L << 31) / 8 + 3;
    String header =
        "{\"big\":{\"dtype\":\"I64\",\"shape\":[%d],\"data_offsets\":[0,%d]},\"end\":{\"dtype\":\"I64\",\"shape\":[1],\"data_offsets\":[%d,%d]}}"
            .formatted(rows, rows * 8, rows * 8, rows * 8 + 8);
    Path path = write(header.getBytes(StandardCharsets.UTF_8), 0);
    try (var sparse = new RandomAccessFile(path.toFile(), "rw")) {
      sparse.setLength(sparse.length() + rows * 8 + 8);
      sparse.seek(sparse.length() - 16);
      sparse.writeLong(Long.reverseBytes(41));
      sparse.writeLong(Long.reverseBytes(42));
    }
    try (SafetensorsFile file = SafetensorsFile.open(path)) {
      assertThat(file.tensor("end").readLongs()).containsExactly(42);
      StoredTensor big = file.tensor("big");
      assertThat(big.map(big.bytes() - 8, 8).getLong()).isEqualTo(41);
      assertThatThrownBy(() -> big.map(0, big.bytes()))
          .isInstanceOf(IllegalArgumentException.class);
    } finally {
      Files.delete(path);
    }
  }

  private Path write(byte[] header, int dataBytes) throws IOException {
    ByteBuffer bytes =
        ByteBuffer.allocate(8 + header.length + dataBytes).order(ByteOrder.LITTLE_ENDIAN);
    bytes.putLong(header.length).put(header);
    return Files.write(folder.resolve("x.safetensors"), bytes.array());
  }
}
