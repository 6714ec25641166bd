package org.draftmill.compute.drafter;

import java.util.ArrayList;
import java.util.List;
import org.draftmill.compute.drafter.ParameterLayout.Parameter;
import org.draftmill.compute.ops.Backend;
import org.draftmill.compute.ops.Masters;
import org.draftmill.compute.ops.Matrix;
import org.draftmill.compute.ops.Ops;
import org.draftmill.compute.ops.Weight;
import org.draftmill.compute.ops.Workspace;

/**
 * The weights on the device, in the arrangement that products want. They are a copy of the masters
 * and follow them with {@link #load}.
 */
final class DrafterWeights {
  private final ParameterLayout layout;
  private final Ops ops;
  private final Workspace memory;
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
   * @param masters {@code [layout.size()]} on the host
   */
  DrafterWeights(ParameterLayout layout, Backend backend, Workspace memory, float[] masters) {
    this.layout = layout;
    this.ops = backend.ops();
    this.memory = memory;
    int count = layout.parameters().size();
    matrices = new Weight[count];
    norms = new Matrix[count];
    try (Workspace staging = backend.workspace()) {
      for (int i = 0; i < count; i++) {
        Parameter parameter = layout.parameters().get(i);
        if (parameter.matrix()) {
          staging.reset(); // holds one matrix at a time
          Matrix matrix = staging.matrix(parameter.rows(), parameter.columns());
          matrix.write(masters, parameter.offset());
          matrices[i] = memory.arrange(matrix);
        } else {
          norms[i] = memory.matrix(1, parameter.columns());
          norms[i].write(masters, parameter.offset());
        }
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

  /** Takes over what the masters {@code [layout.size()]} have become. */
  void load(Masters masters) {
    for (int i = 0; i < matrices.length; i++) {
      Parameter parameter = layout.parameters().get(i);
      Matrix from = masters.view(parameter.offset(), parameter.rows(), parameter.columns());
      if (parameter.matrix()) {
        memory.arrange(from, matrices[i]);
      } else {
        ops.copyIntoColumns(from, norms[i], 0);
      }
    }
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
