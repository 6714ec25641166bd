package org.draftmill.compute.cpu;

import org.draftmill.compute.host.HostClock;
import org.draftmill.compute.host.HostMatrix;
import org.draftmill.compute.host.HostWorkspace;
import org.draftmill.compute.ops.Matrix;
import org.draftmill.compute.ops.Weight;

/** Heap memory whose weights are arranged in panels. */
final class CpuWorkspace extends HostWorkspace {
  private final int width;
  private final Parallel parallel;

  CpuWorkspace(HostClock encoding, int width, Parallel parallel) {
    super(encoding);
    this.width = width;
    this.parallel = parallel;
  }

  @Override
  public Weight arrange(Matrix matrix) {
    PackedWeight weight =
        new PackedWeight(matrix.rows(), matrix.columns(), width, this::take, parallel);
    weight.fill(HostMatrix.of(matrix));
    return weight;
  }

  @Override
  public void arrange(Matrix matrix, Weight weight) {
    if (weight.outputs() != matrix.rows() || weight.inputs() != matrix.columns()) {
      throw new IllegalArgumentException(
          "a weight cannot be refilled from a matrix of another shape");
    }
    ((PackedWeight) weight).fill(HostMatrix.of(matrix));
  }
}
