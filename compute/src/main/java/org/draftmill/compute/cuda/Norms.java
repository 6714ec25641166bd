package org.draftmill.compute.cuda;

import org.draftmill.compute.ops.Matrix;

/** RMSNorm: {@code norms.cu}. */
final class Norms {
  private static final String FAMILY = "norms";
  private static final int THREADS = 256;

  /** Columns of a group up to which a warp works on it, and which a block keeps in registers. */
  private static final int NARROW = 512;

  private static final int IN_REGISTERS = 4096;

  /** Groups of a block of the backward kernels. */
  private static final int NARROW_GROUPS = 256;

  private static final int WIDE_GROUPS = 32;

  private final Launcher launcher;
  private final Scratch scratch;

  Norms(Launcher launcher, Scratch scratch) {
    this.launcher = launcher;
    this.scratch = scratch;
  }

  /** See {@link org.draftmill.compute.ops.Ops#rmsNorm}. */
  void forward(Matrix x, Matrix weight, float eps, Matrix out) {
    CudaMatrix from = CudaMatrix.of(x);
    int group = weight.columns();
    long groups = from.size() / group;
    boolean narrow = group <= NARROW;
    launcher.launch(
        FAMILY,
        narrow ? "rms_norm_narrow" : "rms_norm_wide",
        Grid.of(blocks(groups, narrow ? THREADS / Grid.WARP : 1), THREADS),
        from,
        CudaMatrix.of(weight),
        eps,
        CudaMatrix.of(out),
        groups,
        group);
  }

  /** See {@link org.draftmill.compute.ops.Ops#rmsNormBackward}. */
  void backward(
      Matrix x, Matrix weight, float eps, Matrix dOut, Matrix dX, Matrix accumulatedDWeight) {
    CudaMatrix from = CudaMatrix.of(x);
    int group = weight.columns();
    long groups = from.size() / group;
    if (groups == 0) {
      return;
    }
    boolean narrow = group <= NARROW;
    int blocks = blocks(groups, narrow ? NARROW_GROUPS : WIDE_GROUPS);
    CudaMatrix partial = scratch.matrix("norm gradients", blocks, group);
    int beyond = Math.max(0, group - IN_REGISTERS);
    int shared = (beyond + 3) / 4 * 4 * Float.BYTES;
    launcher.launch(
        FAMILY,
        narrow ? "rms_norm_backward_narrow" : "rms_norm_backward_wide",
        Grid.of(blocks, THREADS).withShared(shared),
        from,
        CudaMatrix.of(weight),
        eps,
        CudaMatrix.of(dOut),
        CudaMatrix.of(dX),
        partial,
        groups,
        group);
    launcher.launch(
        FAMILY,
        "add_column_sums",
        Grid.of(blocks(group, Grid.WARP), Grid.MOST_THREADS),
        partial,
        blocks,
        group,
        CudaMatrix.of(accumulatedDWeight));
  }

  private static int blocks(long items, int each) {
    return Math.toIntExact((items + each - 1) / each);
  }
}
