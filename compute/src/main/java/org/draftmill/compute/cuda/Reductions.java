package org.draftmill.compute.cuda;

import org.draftmill.compute.ops.Matrix;

/** What is asked of whole rows and matrices: {@code reductions.cu}. */
final class Reductions {
  private static final String FAMILY = "reductions";
  private static final int ROW_THREADS = 512;

  private final Launcher launcher;
  private final Scratch scratch;

  Reductions(Launcher launcher, Scratch scratch) {
    this.launcher = launcher;
    this.scratch = scratch;
  }

  /** See {@link org.draftmill.compute.ops.Ops#argmaxRows}. */
  int[] argmaxRows(Matrix x) {
    int[] best = new int[x.rows()];
    if (best.length > 0) {
      CudaInts found = scratch.ints("argmax", best.length);
      launcher.launch(
          FAMILY,
          "argmax_rows",
          Grid.of(best.length, ROW_THREADS),
          CudaMatrix.of(x),
          x.columns(),
          found);
      found.read(best);
    }
    return best;
  }

  /** See {@link org.draftmill.compute.ops.Ops#allFinite}. */
  boolean allFinite(Matrix x) {
    CudaMatrix values = CudaMatrix.of(x);
    CudaInts found = scratch.ints("not finite", 1);
    launcher.zero(found, Integer.BYTES);
    launcher.launch(
        FAMILY, "find_not_finite", Grid.overQuads(values.size()), values, values.size(), found);
    int[] result = new int[1];
    found.read(result);
    return result[0] == 0;
  }
}
