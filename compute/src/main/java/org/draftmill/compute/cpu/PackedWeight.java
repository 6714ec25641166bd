package org.draftmill.compute.cpu;

import java.util.function.IntFunction;
import org.draftmill.compute.host.HostMatrix;
import org.draftmill.compute.ops.Weight;

/**
 * A weight as panels of outputs for {@code x·wᵀ} and, from the first use on, as panels of inputs
 * for {@code dOut·w}: a frozen weight that is never differentiated through is held once.
 */
final class PackedWeight implements Weight {
  private final int outputs;
  private final int inputs;
  private final IntFunction<float[]> memory;
  private final Parallel parallel;
  private final Panels forward;
  private Panels backward;

  PackedWeight(int outputs, int inputs, int width, IntFunction<float[]> memory, Parallel parallel) {
    this.outputs = outputs;
    this.inputs = inputs;
    this.memory = memory;
    this.parallel = parallel;
    this.forward = panels(inputs, outputs, width);
  }

  private Panels panels(int depth, int columns, int width) {
    float[] data = memory.apply(Panels.length(depth, columns, width));
    return new Panels(data, depth, columns, width);
  }

  @Override
  public int outputs() {
    return outputs;
  }

  @Override
  public int inputs() {
    return inputs;
  }

  void fill(HostMatrix w) {
    parallel.run(
        forward.count(),
        w.size(),
        (panel, worker) -> forward.packTransposed(panel, w.data(), w.offset()));
    if (backward != null) {
      Panels rows = backward;
      parallel.run(
          rows.count(), w.size(), (panel, worker) -> rows.packRows(panel, w.data(), w.offset()));
    }
  }

  /** {@code wᵀ [inputs, outputs]}. */
  Panels forward() {
    return forward;
  }

  /** {@code w [outputs, inputs]}. */
  Panels backward() {
    if (backward == null) {
      Panels rows = panels(outputs, inputs, forward.width());
      parallel.run(
          rows.count(),
          (long) outputs * inputs,
          (panel, worker) -> rows.packTransposed(panel, forward));
      backward = rows;
    }
    return backward;
  }
}
