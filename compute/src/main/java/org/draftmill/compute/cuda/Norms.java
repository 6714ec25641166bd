package org.draftmill.compute.cuda;

import org.draftmill.compute.ops.Matrix;

/** RMSNorm: {@code norms.cu}. */
final class Norms {
  private static final String FAMILY = "norms";
  private static final int THREADS = 256;

  /** Groups that a team goes through in the backward kernels. */
  private static final int GROUPS_A_TEAM = 32;

  /** The threads that work on a group together. */
  private enum Team {
    HEAD("head", 8, 128),
    NARROW("narrow", 32, 512),
    WIDE("wide", THREADS, 4096);

    private final String suffix;
    private final int threads;
    private final int inRegisters; // columns of a group

    Team(String suffix, int threads, int inRegisters) {
      this.suffix = suffix;
      this.threads = threads;
      this.inRegisters = inRegisters;
    }

    static Team of(int group) {
      return group <= HEAD.inRegisters ? HEAD : group <= NARROW.inRegisters ? NARROW : WIDE;
    }

    /** Teams of a block. */
    int count() {
      return THREADS / threads;
    }
  }

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
    Team team = Team.of(group);
    launcher.launch(
        FAMILY,
        "rms_norm_" + team.suffix,
        Grid.of(blocks(groups, team.count()), THREADS),
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
    Team team = Team.of(group);
    int blocks = blocks(groups, team.count() * GROUPS_A_TEAM);
    CudaMatrix partial = scratch.matrix("norm gradients", blocks, group);
    int beyond = Math.max(0, group - team.inRegisters);
    int shared = (beyond + 3) / 4 * 4 * Float.BYTES;
    launcher.launch(
        FAMILY,
        "rms_norm_backward_" + team.suffix,
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
