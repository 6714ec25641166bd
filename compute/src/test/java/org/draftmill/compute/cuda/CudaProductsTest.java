package org.draftmill.compute.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.draftmill.compute.cuda.OwnProducts.Tile;
import org.draftmill.compute.host.PoisonedMemory;
import org.draftmill.compute.ops.Matrix;
import org.draftmill.compute.ops.Weight;
import org.draftmill.compute.ops.Workspace;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Tiles of every size, on shapes that fill none of them. */
@ExtendWith({CudaEmulator.class, PoisonedMemory.class})
class CudaProductsTest {
  private static final int ROWS = 150;
  private static final int INPUTS = 102;
  private static final int OUTPUTS = 275;

  private final Random random = new Random(11);
  private CudaBackend backend;
  private Scratch scratch;
  private Workspace memory;
  private Rounding rounding;
  private Products products;

  @BeforeEach
  void open() {
    backend = CudaBackend.open(0);
    memory = backend.workspace();
    scratch = new Scratch(backend.memory(), backend.transfers());
    rounding = new Rounding(backend.launcher(), scratch);
    products = new Products(new OwnProducts(backend.launcher()), rounding);
  }

  private Products with(Tile tile) {
    return new Products(new OwnProducts(backend.launcher(), tile), rounding);
  }

  @AfterEach
  void close() {
    memory.close();
    scratch.close();
    backend.close();
  }

  @Test
  void everyTileGivesTheSameBits() {
    Matrix x = random(ROWS, INPUTS);
    Matrix dOut = random(ROWS, OUTPUTS);
    Weight w = memory.arrange(random(OUTPUTS, INPUTS));
    float[] before = values(ROWS * INPUTS);
    float[] weightBefore = values(OUTPUTS * INPUTS);
    float[][] first = null;
    for (Tile tile : Tile.values()) {
      Matrix out = memory.matrix(ROWS, OUTPUTS);
      with(tile).linear(x, w, out);
      Matrix dX = memory.matrix(ROWS, INPUTS);
      with(tile).linearBackwardInput(dOut, w, dX, false);
      Matrix added = memory.matrix(ROWS, INPUTS, before);
      with(tile).linearBackwardInput(dOut, w, added, true);
      Matrix dW = memory.matrix(OUTPUTS, INPUTS, weightBefore);
      with(tile).linearBackwardWeight(dOut, x, dW);
      float[][] found = {out.toArray(), dX.toArray(), added.toArray(), dW.toArray()};
      if (first == null) {
        first = found;
      }
      for (int r = 0; r < found.length; r++) {
        assertThat(found[r]).as("result %d of %s", r, tile).isEqualTo(first[r]);
      }
    }
  }

  /** Slices come in from memory while others are used: more of them than any ring has places. */
  @Test
  void longSumsGiveTheSameBits() {
    Matrix x = random(17, 1100);
    Weight w = memory.arrange(random(33, 1100));
    float[] first = null;
    for (Tile tile : Tile.values()) {
      Matrix out = memory.matrix(17, 33);
      with(tile).linear(x, w, out);
      first = first == null ? out.toArray() : first;
      assertThat(out.toArray()).as("%s", tile).isEqualTo(first);
    }
  }

  @Test
  void aRowIsTheSameAloneAndAmongOthers() {
    Matrix x = random(70, INPUTS);
    Weight w = memory.arrange(random(OUTPUTS, INPUTS));
    Matrix all = memory.matrix(70, OUTPUTS);
    products.linear(x, w, all);
    Matrix few = memory.matrix(3, OUTPUTS);
    products.linear(x.rows(41, 44), w, few);
    assertThat(few.toArray()).isEqualTo(all.rows(41, 44).toArray());
  }

  @Test
  void roundsAnewOnlyWhatWasTouched() {
    Matrix x = random(5, INPUTS);
    Weight w = memory.arrange(random(OUTPUTS, INPUTS));
    Matrix first = memory.matrix(5, OUTPUTS);
    products.linear(x, w, first);
    long before = CudaEmulator.launches();
    Matrix again = memory.matrix(5, OUTPUTS);
    products.linear(x, w, again);
    assertThat(again.toArray()).isEqualTo(first.toArray());
    assertThat(CudaEmulator.launches() - before).isEqualTo(1);

    backend.ops().add(x, x, x);
    products.linear(x, w, again);
    assertThat(again.toArray()).isNotEqualTo(first.toArray());
    products.linear(x.rows(1, 4), w, again.rows(1, 4));
    float[] sum = first.toArray();
    for (int i = 0; i < sum.length; i++) {
      sum[i] *= 2; // exact, as every sum is scaled by two
    }
    assertThat(again.toArray()).isEqualTo(sum);
  }

  /** A view that begins at an odd value, of an odd number of columns. */
  @Test
  void viewsMayBeginAnywhere() {
    Matrix dOut = random(21, 7);
    Matrix x = random(21, 5);
    Matrix whole = memory.matrix(15, 5, values(75));
    Matrix alone = memory.matrix(7, 5, whole.rows(3, 10).toArray());
    products.linearBackwardWeight(dOut.rows(1, 20), x.rows(1, 20), whole.rows(3, 10));
    products.linearBackwardWeight(dOut.rows(1, 20), x.rows(1, 20), alone);
    assertThat(whole.rows(3, 10).toArray()).isEqualTo(alone.toArray());
  }

  @Test
  void choosesTilesThatKeepTheDeviceBusy() {
    assertThat(Tile.of(1, 4096)).isEqualTo(Tile.FEW);
    assertThat(Tile.of(16, 151_936)).isEqualTo(Tile.FEW);
    assertThat(Tile.of(64, 4096)).isEqualTo(Tile.SMALL);
    assertThat(Tile.of(3072, 1024)).isEqualTo(Tile.LARGE);
    assertThat(Tile.of(49_152, 12_288)).isEqualTo(Tile.WIDE);
  }

  private Matrix random(int rows, int columns) {
    return memory.matrix(rows, columns, values(rows * columns));
  }

  private float[] values(int count) {
    float[] values = new float[count];
    for (int i = 0; i < count; i++) {
      values[i] = (float) random.nextGaussian();
    }
    return values;
  }
}
