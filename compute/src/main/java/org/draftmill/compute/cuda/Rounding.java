package org.draftmill.compute.cuda;

import java.util.HashMap;
import java.util.Map;
import org.draftmill.compute.ops.Matrix;

/** Activations in bf16, as tensor cores take them: {@code round_rows} into scratch memory. */
final class Rounding {
  private static final int MOST_THREADS = 128;

  private final Launcher launcher;
  private final Scratch scratch;
  private final Map<String, Rounded> made = new HashMap<>();

  Rounding(Launcher launcher, Scratch scratch) {
    this.launcher = launcher;
    this.scratch = scratch;
  }

  /** Rows of a matrix, {@code stride} values apart, zeros behind the matrix's columns. */
  record Lines(Piece piece, int stride) {}

  /** All rows, padded like a weight's. Valid until the next call for the same use. */
  Lines rows(String use, Matrix x) {
    CudaMatrix from = CudaMatrix.of(x);
    int stride = CudaWeight.stride(from.columns());
    return new Lines(round(use, from, from.rows(), from.columns(), stride), stride);
  }

  /**
   * All heads: {@code padded} values each, the last ones zero. Valid until the next call for the
   * same use.
   */
  Piece heads(String use, Matrix x, int headDim, int padded) {
    CudaMatrix from = CudaMatrix.of(x);
    return headDim == padded // then whole rows may go at once
        ? round(use, from, from.rows(), from.columns(), from.columns())
        : round(use, from, from.rows() * (from.columns() / headDim), headDim, padded);
  }

  private Piece round(String use, CudaMatrix from, int rows, int columns, int stride) {
    Rounded last = made.get(use);
    if (last != null && last.isOf(from, rows, stride)) {
      return last.to();
    }
    Piece to = scratch.bytes(use, (long) Short.BYTES * rows * stride);
    int threads = Math.min(MOST_THREADS, (stride / 8 + 31) / 32 * 32);
    launcher.launch("products", "round_rows", Grid.of(rows, threads), from, to, columns, stride);
    made.put(
        use, new Rounded(from.piece(), from.address(), rows, stride, from.piece().lastUse(), to));
    return to;
  }

  /**
   * What lies in the buffer of a use. Keys, queries and values are products of the same
   * activations, a product's two gradients take the same dOut: as long as no other work has touched
   * the matrix since ({@code lastUse}), it is not rounded again.
   */
  private record Rounded(Piece piece, long address, int rows, int stride, long lastUse, Piece to) {
    boolean isOf(CudaMatrix from, int wantedRows, int wantedStride) {
      return piece == from.piece()
          && lastUse == piece.lastUse()
          && address == from.address()
          && rows == wantedRows
          && stride == wantedStride;
    }
  }
}
