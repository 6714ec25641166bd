package org.draftmill.compute.target;

import java.nio.file.Path;
import org.draftmill.compute.InputException;
import org.draftmill.compute.io.ModelFiles;
import org.draftmill.compute.io.StoredTensor;
import org.draftmill.compute.ops.Backend;
import org.draftmill.compute.ops.Matrix;
import org.draftmill.compute.ops.Weight;
import org.draftmill.compute.ops.Workspace;

/**
 * Brings stored tensors to a device one by one, checking their shapes. A tensor that is to be
 * arranged passes through scratch memory that holds one tensor at a time. One that only checks
 * reads no values: all that it gives is null.
 */
final class WeightReader implements AutoCloseable {
  private static final String EMBEDDING = "embed_tokens.weight";

  private final ModelFiles files;
  private final Workspace weights; // null when it only checks
  private final Workspace scratch; // the same
  private final String prefix;

  /**
   * @param weights where everything read will live
   */
  WeightReader(Path folder, Backend backend, Workspace weights) {
    this(ModelFiles.open(folder), weights, backend.workspace());
  }

  private WeightReader(ModelFiles files, Workspace weights, Workspace scratch) {
    this.files = files;
    this.weights = weights;
    this.scratch = scratch;
    this.prefix = prefix();
  }

  /** One that checks names and shapes. */
  static WeightReader checking(Path folder) {
    return new WeightReader(ModelFiles.open(folder), null, null);
  }

  /**
   * @throws InputException if there is nothing of a layer
   */
  void requireLayer(int layer, int layers) {
    String name = prefix + "layers." + layer + ".";
    if (files.names().stream().noneMatch(tensor -> tensor.startsWith(name))) {
      throw new InputException(
          "%s: config.json says that the model has %d layers (num_hidden_layers), but its weights hold none named %s*."
              .formatted(files.folder(), layers, name));
    }
  }

  /** Published decoders keep their tensors under {@code model.}; bare ones have no prefix. */
  private String prefix() {
    for (String candidate : new String[] {"model.", ""}) {
      if (files.contains(candidate + EMBEDDING)) {
        return candidate;
      }
    }
    String message =
        "%s: its weights have neither 'model.%s' nor '%s'; this is no decoder of a supported kind."
            .formatted(files.folder(), EMBEDDING, EMBEDDING);
    close();
    throw new InputException(message);
  }

  /** The embedding {@code [vocabulary, hidden]}. */
  Matrix embedding(int vocabulary, int hidden) {
    return read(weights, prefix + EMBEDDING, vocabulary, hidden);
  }

  /** The separate vocabulary head {@code [vocabulary, hidden]}. */
  Weight head(int vocabulary, int hidden) {
    return arranged("lm_head.weight", vocabulary, hidden);
  }

  /** A projection {@code [outputs, inputs]}. */
  Weight weight(String name, int outputs, int inputs) {
    return arranged(prefix + name, outputs, inputs);
  }

  /** A norm or a bias {@code [size]} as one row. */
  Matrix vector(String name, int size) {
    StoredTensor tensor = files.tensor(prefix + name).requireShape(size);
    return weights == null ? null : tensor.read(weights);
  }

  private Weight arranged(String name, int outputs, int inputs) {
    if (weights == null) {
      files.tensor(name).requireShape(outputs, inputs);
      return null;
    }
    scratch.reset();
    return weights.arrange(read(scratch, name, outputs, inputs));
  }

  private Matrix read(Workspace workspace, String name, int rows, int columns) {
    StoredTensor tensor = files.tensor(name).requireShape(rows, columns);
    return workspace == null ? null : tensor.read(workspace);
  }

  @Override
  public void close() {
    if (scratch != null) {
      scratch.close();
    }
    files.close();
  }
}
