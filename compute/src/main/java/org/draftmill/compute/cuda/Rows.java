package org.draftmill.compute.cuda;

import org.draftmill.compute.ops.Ints;
import org.draftmill.compute.ops.Matrix;

/** Operations on whole rows: {@code rows.cu}. */
final class Rows {
  private static final String FAMILY = "rows";
  private static final int THREADS = 256;
  private static final int SCATTER_THREADS = 512;
  private static final int SCATTER_COLUMNS = 128; // of a block

  private final Launcher launcher;
  private final Scratch scratch;

  Rows(Launcher launcher, Scratch scratch) {
    this.launcher = launcher;
    this.scratch = scratch;
  }

  /** The logarithm of the threads that share a row: each takes four columns in its turn. */
  private static int shift(int columns) {
    int quads = (columns + 3) / 4;
    int shift = 0;
    while (1 << shift < Math.min(quads, THREADS)) {
      shift++;
    }
    return shift;
  }

  private static Grid grid(int rows, int shift) {
    int atOnce = THREADS >> shift;
    return Grid.of((rows - 1) / atOnce + 1, THREADS);
  }

  /** See {@link org.draftmill.compute.ops.Ops#gatherRows}. */
  void gather(Matrix x, Ints rows, Matrix out) {
    gather(x, rows, 0, out);
  }

  /** {@code out[i] = x[rows[first + i]]}. */
  void gather(Matrix x, Ints rows, int first, Matrix out) {
    CudaMatrix to = CudaMatrix.of(out);
    if (to.rows() == 0) {
      return;
    }
    int shift = shift(to.columns());
    launcher.launch(
        FAMILY,
        "gather_rows",
        grid(to.rows(), shift),
        CudaMatrix.of(x),
        CudaInts.of(rows),
        first,
        to,
        to.rows(),
        to.columns(),
        shift);
  }

  /** See {@link org.draftmill.compute.ops.Ops#scatterAddRows}; the order is told in rows.cu. */
  void scatterAdd(Matrix x, Ints rows, Matrix accumulated) {
    CudaMatrix to = CudaMatrix.of(accumulated);
    int n = rows.size();
    if (n == 0) {
      return;
    }
    CudaInts starts = scratch.ints("scatter starts", to.rows() + 1);
    CudaInts order = scratch.ints("scatter order", n);
    launcher.launch(
        FAMILY,
        "scatter_order",
        Grid.over((long) to.rows() * Grid.WARP),
        CudaInts.of(rows),
        n,
        to.rows(),
        starts,
        order);
    int slabs = (to.columns() + SCATTER_COLUMNS - 1) / SCATTER_COLUMNS;
    launcher.launch(
        FAMILY,
        "scatter_add_rows",
        Grid.of(Math.multiplyExact(to.rows(), slabs), SCATTER_THREADS),
        CudaMatrix.of(x),
        starts,
        order,
        to,
        to.columns());
  }

  /** See {@link org.draftmill.compute.ops.Ops#copyIntoColumns}. */
  void copyIntoColumns(Matrix x, Matrix out, int column) {
    CudaMatrix from = CudaMatrix.of(x);
    if (from.size() == 0) {
      return;
    }
    int shift = shift(from.columns());
    launcher.launch(
        FAMILY,
        "copy_into_columns",
        grid(from.rows(), shift),
        from,
        CudaMatrix.of(out),
        out.columns(),
        column,
        from.rows(),
        from.columns(),
        shift);
  }

  /** See {@link org.draftmill.compute.ops.Ops#addBias}. */
  void addBias(Matrix x, Matrix bias) {
    CudaMatrix to = CudaMatrix.of(x);
    if (to.size() == 0) {
      return;
    }
    int shift = shift(to.columns());
    launcher.launch(
        FAMILY,
        "add_bias",
        grid(to.rows(), shift),
        to,
        CudaMatrix.of(bias),
        to.rows(),
        to.columns(),
        shift);
  }
}
