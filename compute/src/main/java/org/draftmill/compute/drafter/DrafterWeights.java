package org.draftmill.compute.drafter;

import java.util.ArrayList;
import java.util.List;
import org.draftmill.compute.drafter.ParameterLayout.Parameter;
import org.draftmill.compute.ops.Matrix;
import org.draftmill.compute.ops.Weight;
import org.draftmill.compute.ops.Workspace;

/**
 * The weights on the device, in the arrangement that products want. They are a copy of the flat
 * masters and follow them with {@link #load}.
 */
final class DrafterWeights {
  private final ParameterLayout layout;
  private final Workspace memory;
  private final Workspace staging;
  private final Weight[] matrices; // by place in the layout, null for norms
  private final Matrix[] norms; // by place in the layout, null for matrices

  final Weight fc; // [hidden, taps·hidden]
  final Matrix hiddenNorm; // [1, hidden]
  final Matrix norm; // [1, hidden]
  final List<Layer> layers;

  /** The weights of one layer; shapes as in {@link ParameterLayout}. */
  record Layer(
      Matrix inputNorm,
      Weight q,
      Weight k,
      Weight v,
      Weight o,
      Matrix qNorm,
      Matrix kNorm,
      Matrix postAttentionNorm,
      Weight gate,
      Weight up,
      Weight down) {}

  /**
   * @param memory holds the weights; whoever made it closes it
   * @param staging holds one matrix at a time while it is arranged
   */
  DrafterWeights(ParameterLayout layout, Workspace memory, Workspace staging, float[] masters) {
    this.layout = layout;
    this.memory = memory;
    this.staging = staging;
    int count = layout.parameters().size();
    matrices = new Weight[count];
    norms = new Matrix[count];
    for (int i = 0; i < count; i++) {
      Parameter parameter = layout.parameters().get(i);
      if (parameter.matrix()) {
        matrices[i] = memory.arrange(staged(parameter, masters));
      } else {
        norms[i] = memory.matrix(1, parameter.columns());
        norms[i].write(masters, parameter.offset());
      }
    }
    fc = matrix(layout.fc());
    hiddenNorm = norm(layout.hiddenNorm());
    norm = norm(layout.norm());
    List<Layer> built = new ArrayList<>();
    for (int l = 0; l < layout.layers(); l++) {
      built.add(layer(layout.layer(l)));
    }
    layers = List.copyOf(built);
  }

  /** Brings new masters {@code [layout.size()]} to the device. */
  void load(float[] masters) {
    for (int i = 0; i < matrices.length; i++) {
      Parameter parameter = layout.parameters().get(i);
      if (parameter.matrix()) {
        memory.arrange(staged(parameter, masters), matrices[i]);
      } else {
        norms[i].write(masters, parameter.offset());
      }
    }
  }

  private Matrix staged(Parameter parameter, float[] masters) {
    staging.reset();
    Matrix matrix = staging.matrix(parameter.rows(), parameter.columns());
    matrix.write(masters, parameter.offset());
    return matrix;
  }

  private Layer layer(ParameterLayout.Layer layer) {
    return new Layer(
        norm(layer.inputNorm()),
        matrix(layer.q()),
        matrix(layer.k()),
        matrix(layer.v()),
        matrix(layer.o()),
        norm(layer.qNorm()),
        norm(layer.kNorm()),
        norm(layer.postAttentionNorm()),
        matrix(layer.gate()),
        matrix(layer.up()),
        matrix(layer.down()));
  }

  private Weight matrix(Parameter parameter) {
    return matrices[layout.parameters().indexOf(parameter)];
  }

  private Matrix norm(Parameter parameter) {
    return norms[layout.parameters().indexOf(parameter)];
  }
}
