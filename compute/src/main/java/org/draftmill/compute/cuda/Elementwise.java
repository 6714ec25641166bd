package org.draftmill.compute.cuda;

import org.draftmill.compute.ops.Matrix;

/** Operations element by element: {@code elementwise.cu}. */
final class Elementwise {
  private static final String FAMILY = "elementwise";

  private final Launcher launcher;

  Elementwise(Launcher launcher) {
    this.launcher = launcher;
  }

  /** See {@link org.draftmill.compute.ops.Ops#add}. */
  void add(Matrix x, Matrix y, Matrix out) {
    CudaMatrix to = CudaMatrix.of(out);
    launcher.launch(
        FAMILY,
        "add",
        Grid.overQuads(to.size()),
        CudaMatrix.of(x),
        CudaMatrix.of(y),
        to,
        to.size());
  }

  /** See {@link org.draftmill.compute.ops.Ops#swiglu}. */
  void swiglu(Matrix gate, Matrix up, Matrix out) {
    CudaMatrix to = CudaMatrix.of(out);
    launcher.launch(
        FAMILY,
        "swiglu",
        Grid.overQuads(to.size()),
        CudaMatrix.of(gate),
        CudaMatrix.of(up),
        to,
        to.size());
  }

  /** See {@link org.draftmill.compute.ops.Ops#swigluBackward}. */
  void swigluBackward(Matrix gate, Matrix up, Matrix dOut, Matrix dGate, Matrix dUp) {
    CudaMatrix to = CudaMatrix.of(dGate);
    launcher.launch(
        FAMILY,
        "swiglu_backward",
        Grid.overQuads(to.size()),
        CudaMatrix.of(gate),
        CudaMatrix.of(up),
        CudaMatrix.of(dOut),
        to,
        CudaMatrix.of(dUp),
        to.size());
  }
}
