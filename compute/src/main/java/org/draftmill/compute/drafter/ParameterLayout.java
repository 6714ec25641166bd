package org.draftmill.compute.drafter;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.draftmill.compute.InputException;

/**
 * All trained tensors of a drafter side by side in one flat array of floats, in the order of the
 * forward pass: the form in which weights, moments and gradient sums are summed, sharded and
 * stored. Names are those of the serving checkpoint (docs/drafter.md).
 */
public final class ParameterLayout {
  static final String FC = "fc.weight";
  static final String HIDDEN_NORM = "hidden_norm.weight";
  static final String NORM = "norm.weight";

  private final Map<String, Parameter> byName = new LinkedHashMap<>();
  private final List<Parameter> parameters;
  private final List<Layer> layers;
  private long next;

  /**
   * One tensor.
   *
   * @param name serving name
   * @param offset of its first element in the flat array
   * @param rows 1 for a vector
   * @param columns inputs of a matrix, length of a vector
   * @param matrix whether it is a matrix (weight decay applies) or the vector of a norm
   */
  public record Parameter(String name, int offset, int rows, int columns, boolean matrix) {
    public int size() {
      return rows * columns;
    }

    /** Its shape as stored: two numbers for a matrix, one for a vector. */
    public long[] shape() {
      return matrix ? new long[] {rows, columns} : new long[] {columns};
    }
  }

  /** The tensors of one layer. */
  record Layer(
      Parameter inputNorm,
      Parameter q,
      Parameter k,
      Parameter v,
      Parameter o,
      Parameter qNorm,
      Parameter kNorm,
      Parameter postAttentionNorm,
      Parameter gate,
      Parameter up,
      Parameter down) {}

  public ParameterLayout(DrafterConfig config) {
    int hidden = config.hiddenSize();
    int queryColumns = config.heads().queryColumns();
    int keyValueColumns = config.heads().keyValueColumns();
    int headDim = config.heads().headDim();
    int intermediate = config.intermediateSize();
    matrix(FC, hidden, config.tapColumns());
    vector(HIDDEN_NORM, hidden);
    List<Layer> built = new ArrayList<>();
    for (int l = 0; l < config.layers(); l++) {
      String prefix = "layers." + l + ".";
      String attention = prefix + "self_attn.";
      String mlp = prefix + "mlp.";
      built.add(
          new Layer(
              vector(prefix + "input_layernorm.weight", hidden),
              matrix(attention + "q_proj.weight", queryColumns, hidden),
              matrix(attention + "k_proj.weight", keyValueColumns, hidden),
              matrix(attention + "v_proj.weight", keyValueColumns, hidden),
              matrix(attention + "o_proj.weight", hidden, queryColumns),
              vector(attention + "q_norm.weight", headDim),
              vector(attention + "k_norm.weight", headDim),
              vector(prefix + "post_attention_layernorm.weight", hidden),
              matrix(mlp + "gate_proj.weight", intermediate, hidden),
              matrix(mlp + "up_proj.weight", intermediate, hidden),
              matrix(mlp + "down_proj.weight", hidden, intermediate)));
    }
    vector(NORM, hidden);
    if (next > Integer.MAX_VALUE - 8) {
      throw new InputException(
          "The drafter would have "
              + next
              + " parameters, more than the 2,147,483,639 that one array holds: lower"
              + " drafter.layers.");
    }
    layers = List.copyOf(built);
    parameters = List.copyOf(byName.values());
  }

  /** All tensors, ascending by offset and without gaps. */
  public List<Parameter> parameters() {
    return parameters;
  }

  /** The tensor of this serving name, or null. */
  public Parameter find(String name) {
    return byName.get(name);
  }

  /** Elements of all tensors together. */
  public int size() {
    return (int) next;
  }

  Parameter fc() {
    return byName.get(FC);
  }

  Parameter hiddenNorm() {
    return byName.get(HIDDEN_NORM);
  }

  Parameter norm() {
    return byName.get(NORM);
  }

  int layers() {
    return layers.size();
  }

  Layer layer(int index) {
    return layers.get(index);
  }

  private Parameter matrix(String name, int rows, int columns) {
    return add(name, rows, columns, true);
  }

  private Parameter vector(String name, int columns) {
    return add(name, 1, columns, false);
  }

  private Parameter add(String name, int rows, int columns, boolean matrix) {
    Parameter parameter = new Parameter(name, (int) next, rows, columns, matrix);
    byName.put(name, parameter);
    next += (long) rows * columns;
    return parameter;
  }
}
