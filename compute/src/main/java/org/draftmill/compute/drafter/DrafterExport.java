package org.draftmill.compute.drafter;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Set;
import java.util.TreeSet;
import org.draftmill.compute.DType;
import org.draftmill.compute.InputException;
import org.draftmill.compute.drafter.ParameterLayout.Parameter;
import org.draftmill.compute.host.HalfPrecision;
import org.draftmill.compute.io.AtomicFile;
import org.draftmill.compute.io.Folders;
import org.draftmill.compute.io.JsonConfig;
import org.draftmill.compute.io.ModelFiles;
import org.draftmill.compute.io.SafetensorsWriter;
import org.draftmill.compute.io.StoredTensor;
import org.draftmill.compute.io.TensorType;

/**
 * The drafter as serving engines load it: a folder with {@code config.json} and {@code
 * model.safetensors} in bfloat16, names and shapes as in docs/drafter.md. No embedding, no
 * vocabulary head, no rotary tables: those are the target's.
 */
public final class DrafterExport {
  static final String WEIGHTS_FILE = "model.safetensors";
  private static final int CHUNK = 1 << 16;

  private DrafterExport() {}

  /** A drafter that was read. */
  public record Exported(DrafterConfig config, float[] weights) {}

  /**
   * Writes the folder {@code out}, whole or not at all; what was there before is replaced.
   *
   * @param weights {@code [parameters]} in fp32
   */
  public static void write(Path out, DrafterConfig config, float[] weights) throws IOException {
    Path absolute = out.toAbsolutePath();
    Files.createDirectories(absolute.getParent());
    Path temporary = besides(absolute, "new");
    Files.createDirectory(temporary);
    try {
      AtomicFile.write(
          temporary.resolve(ServingConfig.FILE),
          ServingConfig.write(config).getBytes(StandardCharsets.UTF_8));
      SafetensorsWriter writer = new SafetensorsWriter().metadata("format", "pt");
      for (Parameter parameter : new ParameterLayout(config).parameters()) {
        writer.tensor(
            parameter.name(),
            TensorType.BF16,
            parameter.shape(),
            sink -> encode(parameter, weights, sink));
      }
      writer.write(temporary.resolve(WEIGHTS_FILE));
      publish(temporary, absolute);
    } finally {
      Folders.delete(temporary);
    }
  }

  private static void encode(Parameter parameter, float[] weights, SafetensorsWriter.Sink sink)
      throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(2 * CHUNK).order(ByteOrder.LITTLE_ENDIAN);
    for (int done = 0, count; done < parameter.size(); done += count) {
      count = Math.min(CHUNK, parameter.size() - done);
      bytes.clear();
      for (int i = 0; i < count; i++) {
        bytes.putShort(HalfPrecision.toBFloat16(weights[parameter.offset() + done + i]));
      }
      sink.append(bytes.flip());
    }
  }

  private static void publish(Path temporary, Path out) throws IOException {
    Path former = null;
    if (Files.exists(out)) {
      former = besides(out, "old");
      Files.move(out, former, StandardCopyOption.ATOMIC_MOVE);
    }
    Files.move(temporary, out, StandardCopyOption.ATOMIC_MOVE);
    AtomicFile.forceFolder(out.getParent());
    if (former != null) {
      Folders.delete(former);
    }
  }

  private static Path besides(Path folder, String what) {
    return folder.resolveSibling(
        "." + folder.getFileName() + "." + Long.toHexString(System.nanoTime()) + "." + what);
  }

  /** Reads and checks the shape of the drafter in {@code folder}. */
  public static DrafterConfig readConfig(Path folder) {
    return ServingConfig.read(JsonConfig.read(folder.resolve(ServingConfig.FILE)));
  }

  /**
   * Reads the drafter in {@code folder} as fp32, refusing what serving engines would refuse:
   * tensors that are missing, unknown or of another shape.
   */
  public static Exported read(Path folder) {
    DrafterConfig config = readConfig(folder);
    ParameterLayout layout = new ParameterLayout(config);
    float[] weights = new float[layout.size()];
    try (ModelFiles files = ModelFiles.open(folder)) {
      Set<String> unknown = new TreeSet<>(files.names());
      for (Parameter parameter : layout.parameters()) {
        unknown.remove(parameter.name());
        decode(files.tensor(parameter.name()), parameter, weights);
      }
      if (!unknown.isEmpty()) {
        throw new InputException(
            "%s: holds the tensors %s, which no drafter with this config.json has."
                .formatted(folder, unknown));
      }
    }
    return new Exported(config, weights);
  }

  /**
   * Reads everything and compares it with the weights it was made from.
   *
   * @param weights {@code [parameters]} in fp32
   */
  public static void verify(Path folder, DrafterConfig config, float[] weights) {
    Exported exported = read(folder);
    if (!ServingConfig.write(exported.config).equals(ServingConfig.write(config))) {
      throw new InputException(folder + ": its config.json is not that of the drafter.");
    }
    for (int i = 0; i < weights.length; i++) {
      float stored = HalfPrecision.fromBFloat16(HalfPrecision.toBFloat16(weights[i]));
      if (Float.compare(stored, exported.weights[i]) != 0) {
        throw new InputException(
            "%s: the weight %d is %s where %s was written; the folder is damaged."
                .formatted(folder, i, exported.weights[i], stored));
      }
    }
  }

  private static void decode(StoredTensor tensor, Parameter parameter, float[] weights) {
    tensor.requireShape(parameter.shape());
    DType dtype =
        tensor
            .type()
            .dtype()
            .orElseThrow(
                () ->
                    new InputException(
                        "%s: tensor '%s' is of type %s; weights can be F32, BF16 or F16."
                            .formatted(tensor.path(), tensor.name(), tensor.type())));
    for (int done = 0, count; done < parameter.size(); done += count) {
      count = Math.min(CHUNK, parameter.size() - done);
      ByteBuffer bytes = tensor.map((long) done * dtype.bytes(), (long) count * dtype.bytes());
      for (int i = 0; i < count; i++) {
        weights[parameter.offset() + done + i] =
            switch (dtype) {
              case F32 -> bytes.getFloat();
              case BF16 -> HalfPrecision.fromBFloat16(bytes.getShort());
              case F16 -> HalfPrecision.fromFloat16(bytes.getShort());
            };
      }
    }
  }
}
