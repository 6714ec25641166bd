package org.draftmill.compute.cpu;

import java.util.Arrays;
import org.draftmill.compute.host.HostMatrix;

/**
 * Matrix products over panels. The work is cut into pieces of rows by panels; within a piece the
 * contracted index runs in blocks that stay in the cache, each going on from the sums that the last
 * one stored, so every value is one chain of fused multiply-adds however the work was cut.
 */
final class Products {
  /** Rows of a piece: with {@link #DEPTH}, what the second-level cache holds beside a panel. */
  private static final int ROWS = 96;

  /** Contracted indices between two visits of a sum. */
  private static final int DEPTH = 256;

  /** Rows of a right side that is packed for one product: bounds the memory for it. */
  private static final int SLAB = 2048;

  /** Pieces per thread, so that an unlucky thread does not keep the others waiting. */
  private static final int PIECES = 4;

  private final Kernels kernels;
  private final Parallel parallel;
  private final Scratch right = new Scratch();
  private final Scratch[] left;
  private final float[][] edge;

  Products(Kernels kernels, Parallel parallel) {
    this.kernels = kernels;
    this.parallel = parallel;
    this.left = new Scratch[parallel.threads()];
    this.edge = new float[parallel.threads()][];
    for (int i = 0; i < left.length; i++) {
      left[i] = new Scratch();
      edge[i] = new float[ROWS * kernels.panel()];
    }
  }

  /** {@code out = x·b}, or {@code out += x·b}; x {@code [n, depth]}, out {@code [n, columns]}. */
  void multiply(HostMatrix x, Panels b, HostMatrix out, boolean accumulate) {
    run(
        out,
        b,
        (piece, worker) -> {
          if (!accumulate) {
            piece.clear(out);
          }
          for (int p = 0; p < b.depth(); p += DEPTH) {
            int depth = Math.min(DEPTH, b.depth() - p);
            piece.add(
                x.data(), x.at(piece.firstRow) + p, x.columns(), 1, p, depth, out, edge[worker]);
          }
        });
  }

  /**
   * {@code accumulated += dOutᵀ·x}; dOut {@code [n, outputs]}, x {@code [n, inputs]}, accumulated
   * {@code [outputs, inputs]}.
   */
  void multiplyTransposed(HostMatrix dOut, HostMatrix x, HostMatrix accumulated) {
    for (int first = 0; first < x.rows(); first += SLAB) {
      int end = Math.min(x.rows(), first + SLAB);
      multiplySlab(dOut.rows(first, end), x.rows(first, end), accumulated);
    }
  }

  private void multiplySlab(HostMatrix dOut, HostMatrix x, HostMatrix accumulated) {
    int n = x.rows();
    int width = kernels.panel();
    float[] memory = right.atLeast(Panels.length(n, x.columns(), width));
    Panels b = new Panels(memory, n, x.columns(), width);
    parallel.run(b.count(), x.size(), (panel, worker) -> b.packRows(panel, x.data(), x.offset()));
    run(
        accumulated,
        b,
        (piece, worker) -> {
          int rows = piece.rows;
          float[] a = left[worker].atLeast(ROWS * DEPTH);
          for (int p = 0; p < n; p += DEPTH) {
            int depth = Math.min(DEPTH, n - p);
            for (int i = 0; i < depth; i++) {
              System.arraycopy(dOut.data(), dOut.at(p + i) + piece.firstRow, a, i * rows, rows);
            }
            piece.add(a, 0, 1, rows, p, depth, accumulated, edge[worker]);
          }
        });
  }

  long bytesHeld() {
    long edges = (long) edge.length * ROWS * kernels.panel() * Float.BYTES;
    return right.bytes() + Arrays.stream(left).mapToLong(Scratch::bytes).sum() + edges;
  }

  private interface PieceTask {
    void run(Piece piece, int worker);
  }

  /** Cuts out {@code [rows, b.columns]} into pieces and shares them out. */
  private void run(HostMatrix out, Panels b, PieceTask task) {
    if (out.rows() == 0 || b.columns() == 0) {
      return;
    }
    int rowPieces = (out.rows() + ROWS - 1) / ROWS;
    int panels = b.count();
    int wanted = parallel.threads() == 1 ? 1 : PIECES * parallel.threads();
    int panelPieces = Math.min(panels, (wanted + rowPieces - 1) / rowPieces);
    long cost = (long) out.size() * b.depth();
    parallel.run(
        rowPieces * panelPieces,
        cost,
        (index, worker) -> {
          int row = index / panelPieces * ROWS;
          int part = index % panelPieces;
          int from = (int) ((long) panels * part / panelPieces);
          int to = (int) ((long) panels * (part + 1) / panelPieces);
          task.run(new Piece(b, row, Math.min(ROWS, out.rows() - row), from, to), worker);
        });
  }

  /** The rows {@code firstRow …} by the panels {@code firstPanel … endPanel − 1} of a result. */
  private final class Piece {
    private final Panels b;
    private final int firstRow;
    private final int rows;
    private final int firstPanel;
    private final int endPanel;

    Piece(Panels b, int firstRow, int rows, int firstPanel, int endPanel) {
      this.b = b;
      this.firstRow = firstRow;
      this.rows = rows;
      this.firstPanel = firstPanel;
      this.endPanel = endPanel;
    }

    void clear(HostMatrix out) {
      int from = firstPanel * b.width();
      int to = Math.min(out.columns(), endPanel * b.width());
      for (int i = 0; i < rows; i++) {
        int at = out.at(firstRow + i);
        Arrays.fill(out.data(), at + from, at + to, 0f);
      }
    }

    /** Adds the product over the contracted indices {@code p … p + depth − 1}. */
    void add(
        float[] a, int ao, int ai, int ap, int p, int depth, HostMatrix out, float[] temporary) {
      int width = b.width();
      for (int panel = firstPanel; panel < endPanel; panel++) {
        int bo = b.at(panel) + p * width;
        int to = out.at(firstRow) + panel * width;
        int columns = b.columnsOf(panel);
        if (columns == width) {
          kernels.multiplyAdd(
              rows,
              width,
              depth,
              a,
              ao,
              ai,
              ap,
              b.data(),
              bo,
              width,
              out.data(),
              to,
              out.columns());
        } else {
          int tile = columns <= kernels.granule() ? kernels.granule() : width;
          copy(out.data(), to, out.columns(), temporary, 0, tile, columns);
          kernels.multiplyAdd(
              rows, tile, depth, a, ao, ai, ap, b.data(), bo, width, temporary, 0, tile);
          copy(temporary, 0, tile, out.data(), to, out.columns(), columns);
        }
      }
    }

    private void copy(
        float[] from, int fo, int fromStride, float[] to, int too, int toStride, int columns) {
      for (int i = 0; i < rows; i++) {
        System.arraycopy(from, fo + i * fromStride, to, too + i * toStride, columns);
      }
    }
  }
}
