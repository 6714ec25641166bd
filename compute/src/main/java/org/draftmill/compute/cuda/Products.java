package org.draftmill.compute.cuda;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.draftmill.compute.cuda.Rounding.Lines;
import org.draftmill.compute.ops.Matrix;
import org.draftmill.compute.ops.Weight;

/**
 * Matrix products on tensor cores: {@code products.cu}. Activations are rounded to bf16 into
 * scratch memory, lines padded like a weight's; then one kernel multiplies, a block of threads a
 * tile of the result. Tiles differ in speed only: all give the same bits.
 */
final class Products {
  private static final String FAMILY = "products";

  /** A tile of the result; sizes as in {@code products.cu}. */
  enum Tile {
    /** For a few rows: as many blocks as there are columns to share. */
    FEW(16, 32, 64, 48 << 10),
    SMALL(64, 64, 128, 48 << 10),
    LARGE(128, 128, 128, 48 << 10),
    /** For so many tiles that the device is busy all the same. */
    WIDE(128, 256, 256, 96 << 10);

    private final int rows;
    private final int columns;
    private final int threads;
    private final int shared;

    Tile(int rows, int columns, int threads, int shared) {
      this.rows = rows;
      this.columns = columns;
      this.threads = threads;
      this.shared = shared;
    }

    long count(int m, int n) {
      return ((m + rows - 1L) / rows) * ((n + columns - 1L) / columns);
    }

    Grid grid(int m, int n) {
      return Grid.of(Math.toIntExact(count(m, n)), threads).withShared(shared);
    }

    /** The one for a result of {@code m} rows and {@code n} columns. */
    static Tile of(int m, int n) {
      if (m <= FEW.rows) {
        return FEW;
      }
      if (WIDE.count(m, n) >= MANY) {
        return WIDE;
      }
      return m > SMALL.rows && LARGE.count(m, n) >= ENOUGH ? LARGE : SMALL;
    }
  }

  /** Tiles that keep every multiprocessor busy twice over. */
  private static final int MANY = 264;

  /** Tiles below which smaller ones share the work better. */
  private static final int ENOUGH = 64;

  private final Launcher launcher;
  private final Rounding rounding;

  Products(Launcher launcher, Rounding rounding) {
    this.launcher = launcher;
    this.rounding = rounding;
  }

  /** See {@link org.draftmill.compute.ops.Ops#linear}. */
  void linear(Matrix x, Weight w, Matrix out) {
    linear(x, w, out, Tile.of(out.rows(), out.columns()));
  }

  void linear(Matrix x, Weight w, Matrix out, Tile tile) {
    CudaWeight weight = CudaWeight.of(w);
    Lines from = rounding.rows("products x", x);
    multiply("linear", tile, from, weight, weight.stride(), CudaMatrix.of(out), weight.inputs());
  }

  /** See {@link org.draftmill.compute.ops.Ops#linearBackwardInput}. */
  void linearBackwardInput(Matrix dOut, Weight w, Matrix dX, boolean accumulate) {
    linearBackwardInput(dOut, w, dX, accumulate, Tile.of(dX.rows(), dX.columns()));
  }

  void linearBackwardInput(Matrix dOut, Weight w, Matrix dX, boolean accumulate, Tile tile) {
    CudaWeight weight = CudaWeight.of(w);
    Lines from = rounding.rows("products dOut", dOut);
    multiply(
        "linear_backward_input",
        tile,
        from,
        weight,
        weight.stride(),
        CudaMatrix.of(dX),
        weight.outputs(),
        accumulate ? 1 : 0);
  }

  /** See {@link org.draftmill.compute.ops.Ops#linearBackwardWeight}. */
  void linearBackwardWeight(Matrix dOut, Matrix x, Matrix accumulatedDW) {
    Tile tile = Tile.of(accumulatedDW.rows(), accumulatedDW.columns());
    linearBackwardWeight(dOut, x, accumulatedDW, tile == Tile.FEW ? Tile.SMALL : tile);
  }

  void linearBackwardWeight(Matrix dOut, Matrix x, Matrix accumulatedDW, Tile tile) {
    Lines left = rounding.rows("products dOut", dOut);
    Lines right = rounding.rows("products x", x);
    multiply(
        "linear_backward_weight",
        tile,
        left,
        right.piece(),
        right.stride(),
        CudaMatrix.of(accumulatedDW),
        x.rows());
  }

  /** {@code c[m, n] = a·b} over {@code k}. */
  private void multiply(
      String product,
      Tile tile,
      Lines a,
      DeviceValue b,
      int strideB,
      CudaMatrix c,
      int k,
      Object... more) {
    List<Object> arguments =
        new ArrayList<>(List.of(a.piece(), b, c, c.rows(), c.columns(), k, a.stride(), strideB));
    arguments.addAll(Arrays.asList(more));
    launcher.launch(
        FAMILY,
        product + "_" + tile.name().toLowerCase(Locale.ROOT),
        tile.grid(c.rows(), c.columns()),
        arguments.toArray());
  }
}
