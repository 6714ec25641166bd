package org.draftmill.compute.cuda;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.draftmill.compute.cuda.Rounding.Lines;

/**
 * Products by our own kernels on tensor cores, {@code products.cu}: a block of threads a tile of
 * the result. Tiles differ in speed only: all give the same bits, and a row of a result does not
 * depend on the rows beside it.
 */
final class OwnProducts implements Multiplier {
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
  private final Tile always; // null: by the shape of the result

  OwnProducts(Launcher launcher) {
    this(launcher, null);
  }

  /** With tiles of one size. */
  OwnProducts(Launcher launcher, Tile always) {
    this.launcher = launcher;
    this.always = always;
  }

  @Override
  public void multiply(Product product, Lines a, Lines b, CudaMatrix c, int k, boolean accumulate) {
    Tile tile = tile(product, c);
    List<Object> arguments =
        new ArrayList<>(
            List.of(a.piece(), b.piece(), c, c.rows(), c.columns(), k, a.stride(), b.stride()));
    if (product == Product.BACKWARD_INPUT) {
      arguments.add(accumulate ? 1 : 0);
    } else if (accumulate != (product == Product.BACKWARD_WEIGHT)) {
      throw new IllegalArgumentException(product + " has no kernel for accumulate = " + accumulate);
    }
    launcher.launch(
        FAMILY, kernel(product, tile), tile.grid(c.rows(), c.columns()), arguments.toArray());
  }

  private Tile tile(Product product, CudaMatrix c) {
    Tile tile = always == null ? Tile.of(c.rows(), c.columns()) : always;
    return product == Product.BACKWARD_WEIGHT && tile == Tile.FEW ? Tile.SMALL : tile;
  }

  private static String kernel(Product product, Tile tile) {
    String name =
        switch (product) {
          case LINEAR -> "linear_";
          case BACKWARD_INPUT -> "linear_backward_input_";
          case BACKWARD_WEIGHT -> "linear_backward_weight_";
        };
    return name + tile.name().toLowerCase(Locale.ROOT);
  }

  @Override
  public String arithmetic() {
    return "own products";
  }
}
