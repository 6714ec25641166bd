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
        FAMILY, "add", Grid.over(to.size()), CudaMatrix.of(x), CudaMatrix.of(y), to, to.size());
  }
}
