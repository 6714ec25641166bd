package org.draftmill.compute.drafter;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.CRC32C;
import org.draftmill.compute.InputException;
import org.draftmill.compute.io.AtomicFile;
import org.draftmill.compute.io.SafetensorsFile;
import org.draftmill.compute.io.SafetensorsWriter;
import org.draftmill.compute.io.StoredTensor;
import org.draftmill.compute.io.TensorType;

/**
 * One drafter's state as a safetensors file. The metadata says what it belongs to and holds the
 * CRC-32C of every tensor and of itself, so that any damaged byte is found and named.
 */
final class DrafterStateFile implements AutoCloseable {
  static final String FORMAT = "draftmill-drafter-state";
  static final String VERSION = "1";

  static final String WEIGHTS = "weights";
  static final String FIRST_MOMENTS = "moments.first";
  static final String SECOND_MOMENTS = "moments.second";
  static final String GRADIENT_SUMS = "sums.gradient";
  static final String SCALAR_SUMS = "sums.scalars";

  private static final String CRC = "crc32c.";
  private static final String METADATA_CRC = "crc32c";
  private static final String RUN = "run.";
  private static final int CHUNK_BYTES = 1 << 18;
  private static final int MAPPED_BYTES = 1 << 28;
  private static final int MAPPED_FLOATS = MAPPED_BYTES / Float.BYTES;

  private final SafetensorsFile file;
  private final PinnedRun run;
  private final int rank;
  private final int size;
  private final long step;
  private final long updates;
  private final int from;
  private final int parameters;

  private DrafterStateFile(SafetensorsFile file) {
    this.file = file;
    String format = file.metadata().get("format");
    if (!FORMAT.equals(format)) {
      throw new InputException(path() + ": is no drafter state; its format is " + format + ".");
    }
    String version = file.metadata().get("version");
    if (!VERSION.equals(version)) {
      throw new InputException(
          "%s: is of version %s; this program reads version %s."
              .formatted(path(), version, VERSION));
    }
    String found = file.metadata().get(METADATA_CRC);
    String expected = hex(checksum(file.metadata()));
    if (!expected.equals(found)) {
      throw new InputException(
          "%s: its metadata has the checksum %s, not %s as stored; the file is damaged."
              .formatted(path(), expected, found));
    }
    Map<String, String> pinned = new LinkedHashMap<>();
    new TreeMap<>(file.metadata())
        .forEach(
            (key, value) -> {
              if (key.startsWith(RUN)) {
                pinned.put(key.substring(RUN.length()), value);
              }
            });
    run = new PinnedRun(pinned);
    rank = (int) number("rank");
    size = (int) number("size");
    step = number("step");
    updates = number("updates");
    from = (int) number("from");
    parameters = (int) number("parameters");
    StoredTensor weights = require(WEIGHTS, TensorType.F32);
    require(FIRST_MOMENTS, TensorType.F32).requireShape(weights.shape());
    require(SECOND_MOMENTS, TensorType.F32).requireShape(weights.shape());
    if (hasSums()) {
      require(GRADIENT_SUMS, TensorType.I64).requireShape(parameters);
      require(SCALAR_SUMS, TensorType.I64);
    }
  }

  static DrafterStateFile open(Path path) {
    SafetensorsFile file = SafetensorsFile.open(path);
    try {
      return new DrafterStateFile(file);
    } catch (RuntimeException e) {
      file.close();
      throw e;
    }
  }

  static AtomicFile.Written write(Path path, DrafterState state) throws IOException {
    Map<String, String> metadata = new TreeMap<>();
    metadata.put("format", FORMAT);
    metadata.put("version", VERSION);
    metadata.put("rank", Integer.toString(state.rank()));
    metadata.put("size", Integer.toString(state.size()));
    metadata.put("step", Long.toString(state.step()));
    metadata.put("updates", Long.toString(state.updates()));
    metadata.put("from", Integer.toString(state.from()));
    metadata.put("parameters", Integer.toString(state.parameters()));
    state.run().values().forEach((key, value) -> metadata.put(RUN + key, value));
    metadata.put(CRC + WEIGHTS, hex(checksum(state.weights())));
    metadata.put(CRC + FIRST_MOMENTS, hex(checksum(state.firstMoments())));
    metadata.put(CRC + SECOND_MOMENTS, hex(checksum(state.secondMoments())));
    SafetensorsWriter writer =
        new SafetensorsWriter()
            .floats(WEIGHTS, state.weights(), state.weights().length)
            .floats(FIRST_MOMENTS, state.firstMoments(), state.firstMoments().length)
            .floats(SECOND_MOMENTS, state.secondMoments(), state.secondMoments().length);
    if (state.gradientSums() != null) {
      metadata.put(CRC + GRADIENT_SUMS, hex(checksum(state.gradientSums())));
      metadata.put(CRC + SCALAR_SUMS, hex(checksum(state.scalarSums())));
      writer
          .longs(GRADIENT_SUMS, state.gradientSums(), state.gradientSums().length)
          .longs(SCALAR_SUMS, state.scalarSums(), state.scalarSums().length);
    }
    metadata.put(METADATA_CRC, hex(checksum(metadata)));
    metadata.forEach(writer::metadata);
    return writer.write(path);
  }

  Path path() {
    return file.path();
  }

  PinnedRun run() {
    return run;
  }

  int rank() {
    return rank;
  }

  int size() {
    return size;
  }

  long step() {
    return step;
  }

  long updates() {
    return updates;
  }

  int from() {
    return from;
  }

  int to() {
    return Math.toIntExact(from + file.tensor(WEIGHTS).elements());
  }

  int parameters() {
    return parameters;
  }

  boolean hasSums() {
    return file.contains(GRADIENT_SUMS);
  }

  void verify() {
    file.tensors().keySet().forEach(this::verifyChecksum);
  }

  /**
   * Reads {@code count} values of a tensor of floats from its element {@code begin} on, after
   * verifying the checksum of the whole tensor.
   */
  void readFloats(String name, long begin, float[] destination, int at, int count) {
    verifyChecksum(name);
    StoredTensor tensor = file.tensor(name);
    for (int done = 0, some; done < count; done += some) {
      some = Math.min(MAPPED_FLOATS, count - done);
      tensor
          .map((begin + done) * Float.BYTES, (long) some * Float.BYTES)
          .asFloatBuffer()
          .get(destination, at + done, some);
    }
  }

  /** Adds a tensor of longs, its checksum verified, to {@code sums} of as many elements. */
  void addLongs(String name, long[] sums) {
    StoredTensor tensor = file.tensor(name).requireShape(sums.length);
    verifyChecksum(name);
    for (long at = 0; at < tensor.bytes(); at += MAPPED_BYTES) {
      ByteBuffer bytes = tensor.map(at, Math.min(MAPPED_BYTES, tensor.bytes() - at));
      for (int i = (int) (at / Long.BYTES); bytes.hasRemaining(); i++) {
        sums[i] += bytes.getLong();
      }
    }
  }

  private void verifyChecksum(String name) {
    StoredTensor tensor = file.tensor(name);
    CRC32C crc = new CRC32C();
    for (long at = 0; at < tensor.bytes(); at += MAPPED_BYTES) {
      crc.update(tensor.map(at, Math.min(MAPPED_BYTES, tensor.bytes() - at)));
    }
    String found = file.metadata().get(CRC + name);
    if (!hex(crc.getValue()).equals(found)) {
      throw new InputException(
          "%s: tensor '%s' has the checksum %s, not %s as stored; the file is damaged."
              .formatted(path(), name, hex(crc.getValue()), found));
    }
  }

  private StoredTensor require(String name, TensorType type) {
    StoredTensor tensor = file.tensor(name);
    if (tensor.type() != type) {
      throw new InputException(
          "%s: tensor '%s' is of type %s, not %s.".formatted(path(), name, tensor.type(), type));
    }
    return tensor;
  }

  private long number(String key) {
    String text = file.metadata().get(key);
    try {
      return Long.parseLong(text);
    } catch (NumberFormatException e) {
      throw new InputException(
          "%s: its metadata entry '%s' is %s, not a number.".formatted(path(), key, text), e);
    }
  }

  /** Over all entries but the checksum itself, by key. */
  private static long checksum(Map<String, String> metadata) {
    CRC32C crc = new CRC32C();
    new TreeMap<>(metadata)
        .forEach(
            (key, value) -> {
              if (!key.equals(METADATA_CRC)) {
                crc.update((key + "\0" + value + "\0").getBytes(StandardCharsets.UTF_8));
              }
            });
    return crc.getValue();
  }

  private static long checksum(float[] values) {
    CRC32C crc = new CRC32C();
    ByteBuffer bytes = ByteBuffer.allocate(CHUNK_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    int chunk = CHUNK_BYTES / Float.BYTES;
    for (int from = 0, count; from < values.length; from += count) {
      count = Math.min(chunk, values.length - from);
      bytes.asFloatBuffer().put(values, from, count);
      crc.update(bytes.array(), 0, count * Float.BYTES);
    }
    return crc.getValue();
  }

  private static long checksum(long[] values) {
    CRC32C crc = new CRC32C();
    ByteBuffer bytes = ByteBuffer.allocate(CHUNK_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    int chunk = CHUNK_BYTES / Long.BYTES;
    for (int from = 0, count; from < values.length; from += count) {
      count = Math.min(chunk, values.length - from);
      bytes.asLongBuffer().put(values, from, count);
      crc.update(bytes.array(), 0, count * Long.BYTES);
    }
    return crc.getValue();
  }

  private static String hex(long crc) {
    return "%08x".formatted(crc);
  }

  @Override
  public void close() {
    file.close();
  }
}
