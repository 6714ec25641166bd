package org.draftmill.compute.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.BiConsumer;
import org.draftmill.compute.host.PoisonedMemory;
import org.draftmill.compute.ops.Backend;
import org.draftmill.compute.ops.Matrix;
import org.draftmill.compute.ops.Ops;
import org.draftmill.compute.ops.RopeTable;
import org.draftmill.compute.ops.Workspace;
import org.draftmill.compute.reference.ReferenceBackend;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What the kernels do differently from one size or place to another, beyond the contract's cases.
 */
@ExtendWith({CudaEmulator.class, PoisonedMemory.class})
class CudaOpsTest {
  private static final float EPS = 1e-6f;

  private final Random random = new Random(5);
  private CudaBackend backend;
  private Workspace memory;

  @BeforeEach
  void open() {
    backend = CudaBackend.open(0);
    memory = backend.workspace();
  }

  @AfterEach
  void close() {
    memory.close();
    backend.close();
  }

  /** Around the widths at which a larger team takes over, and memory from registers. */
  @ParameterizedTest
  @CsvSource({
    "1100, 20",
    "5, 128",
    "5, 129",
    "3, 511",
    "2, 512",
    "2, 513",
    "70, 600",
    "2, 4096",
    "2, 4099"
  })
  void normsOfEveryWidth(int rows, int width) {
    float[] x = floats(rows * width);
    float[] weight = floats(width);
    float[] dOut = floats(rows * width);
    BiConsumer<Backend, List<float[]>> run =
        (on, results) -> {
          try (Workspace memory = on.workspace()) {
            Matrix in = memory.matrix(rows, width, x);
            Matrix w = memory.matrix(1, width, weight);
            Matrix out = memory.matrix(rows, width);
            on.ops().rmsNorm(in, w, EPS, out);
            results.add(out.toArray());
            Matrix gradient = memory.matrix(rows, width, dOut);
            Matrix dWeight = memory.matrix(1, width, weight);
            on.ops().rmsNormBackward(in, w, EPS, gradient, gradient, dWeight);
            results.add(gradient.toArray());
            results.add(dWeight.toArray());
          }
        };
    assertLikeTheReference(run, 3);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 4, 7, 130, 140})
  void rowsThatManyAreAddedTo(int columns) {
    int n = 90;
    float[] x = floats(n * columns);
    int[] rows = new int[n];
    Arrays.setAll(rows, i -> i % 3 == 0 ? 4 : i % 2);
    float[] before = floats(7 * columns);
    assertLikeTheReference(
        (on, results) -> {
          try (Workspace memory = on.workspace()) {
            Matrix sums = memory.matrix(7, columns, before);
            on.ops().scatterAddRows(memory.matrix(n, columns, x), memory.ints(rows), sums);
            results.add(sums.toArray());
          }
        },
        1);
  }

  private interface RowOperation {
    void run(Ops ops, Matrix x, int from, Matrix out);
  }

  /** Odd columns, so that views begin where no wide load may. */
  @ParameterizedTest
  @ValueSource(ints = {5, 600, 606, 4101})
  void aRowIsTheSameAloneAmongOthersAndInAnyPlace(int columns) {
    int n = 11;
    Matrix x = matrix(n, columns);
    Matrix weight = matrix(1, columns);
    Matrix dOut = matrix(n, columns);
    int[] positions = random.ints(n, 0, 5000).toArray();
    RopeTable table = new RopeTable(new double[] {1, 0.3, 0.01}, 1);
    List<RowOperation> operations =
        List.of(
            (ops, rows, from, out) -> ops.rmsNorm(rows, weight, EPS, out),
            (ops, rows, from, out) -> {
              Matrix gradient = dOut.rows(from, from + rows.rows());
              ops.rmsNormBackward(rows, weight, EPS, gradient, out, memory.zeros(1, columns));
            },
            (ops, rows, from, out) -> ops.swiglu(rows, rows, out),
            (ops, rows, from, out) -> {
              ops.swiglu(rows, rows, out);
              ops.addBias(out, weight);
            },
            (ops, rows, from, out) -> {
              if (columns % table.headDim() == 0) {
                ops.add(rows, rows, out);
                int[] own = Arrays.copyOfRange(positions, from, from + rows.rows());
                ops.rope(out, memory.ints(own), table);
              } else {
                ops.add(rows, rows, out);
              }
            });
    for (int o = 0; o < operations.size(); o++) {
      Matrix all = memory.matrix(n, columns);
      operations.get(o).run(backend.ops(), x, 0, all);
      float[] expected = all.toArray();
      for (int[] span : new int[][] {{0, 1}, {1, 2}, {3, 9}, {10, 11}}) {
        Matrix out = memory.matrix(n, columns).rows(span[0], span[1]);
        operations.get(o).run(backend.ops(), x.rows(span[0], span[1]), span[0], out);
        assertThat(out.toArray())
            .as("operation %d, rows %d to %d", o, span[0], span[1])
            .containsExactly(Arrays.copyOfRange(expected, span[0] * columns, span[1] * columns));
      }
    }
  }

  @Test
  void anglesStayExactFarOut() {
    int[] positions = {0, 1, 2, 3, 1000, 32_768, 131_071, 1_000_003, 20_000_001};
    double[] frequency = {1, 0.7071, 0.1, 1e-3, 1e-7};
    float[] x = floats(positions.length * 10);
    assertLikeTheReference(
        (on, results) -> {
          try (Workspace memory = on.workspace()) {
            Matrix values = memory.matrix(positions.length, 10, x);
            RopeTable table = new RopeTable(frequency, 1);
            on.ops().rope(values, memory.ints(positions), table);
            results.add(values.toArray());
            on.ops().ropeBackward(values, memory.ints(positions), table);
            results.add(values.toArray());
          }
        },
        2);
  }

  @Test
  void theFirstOfTheLargestIsFound() {
    float[] x = new float[6 * 3000];
    x[2999] = 1; // row 0: the last
    x[3000 + 17] = 2; // row 1: twice
    x[3000 + 2700] = 2;
    Arrays.fill(x, 6000, 9000, Float.NEGATIVE_INFINITY); // row 2: all the same
    x[9000] = Float.NaN; // row 3: nothing is larger than NaN
    x[9001] = 5;
    x[12_000 + 40] = Float.NaN; // row 4: NaN is not larger
    x[12_000 + 41] = 1e-30f;
    Arrays.fill(x, 15_000, 18_000, -3f);
    x[15_000 + 1024] = -2f; // row 5
    assertThat(backend.ops().argmaxRows(memory.matrix(6, 3000, x)))
        .containsExactly(2999, 17, 0, 0, 41, 1024);
    assertThat(backend.ops().argmaxRows(memory.matrix(0, 5))).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3, 1024, 4097})
  void aValueThatIsNotFiniteIsFoundAnywhere(int size) {
    float[] x = floats(size);
    assertThat(backend.ops().allFinite(memory.matrix(1, size, x))).isTrue();
    for (float bad : new float[] {Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY}) {
      x[size - 1] = bad;
      assertThat(backend.ops().allFinite(memory.matrix(1, size, x))).as("%f", bad).isFalse();
    }
    x[size - 1] = -Float.MAX_VALUE;
    x[size / 2] = Float.MAX_VALUE;
    assertThat(backend.ops().allFinite(memory.matrix(1, size, x))).isTrue();
  }

  /** Zero rows are nothing to do, and no launch. */
  @Test
  void emptyMatricesAreTaken() {
    long launches = CudaEmulator.launches();
    Matrix empty = memory.matrix(0, 8);
    Matrix weight = matrix(1, 8);
    Ops ops = backend.ops();
    ops.add(empty, empty, empty);
    ops.addBias(empty, weight);
    ops.rmsNorm(empty, weight, EPS, empty);
    ops.rmsNormBackward(empty, weight, EPS, empty, empty, memory.zeros(1, 8));
    ops.swiglu(empty, empty, empty);
    ops.gatherRows(weight, memory.ints(), empty);
    ops.scatterAddRows(empty, memory.ints(), weight);
    ops.copyIntoColumns(empty, empty, 0);
    ops.rope(empty, memory.ints(), new RopeTable(new double[4], 1));
    assertThat(ops.allFinite(empty)).isTrue();
    assertThat(CudaEmulator.launches()).isEqualTo(launches);
  }

  private void assertLikeTheReference(BiConsumer<Backend, List<float[]>> run, int results) {
    List<float[]> found = new java.util.ArrayList<>();
    List<float[]> expected = new java.util.ArrayList<>();
    run.accept(backend, found);
    try (Backend reference = new ReferenceBackend()) {
      run.accept(reference, expected);
    }
    assertThat(found).hasSize(results);
    for (int r = 0; r < results; r++) {
      for (int i = 0; i < expected.get(r).length; i++) {
        double wanted = expected.get(r)[i];
        assertThat((double) found.get(r)[i])
            .as("result %d at %d", r, i)
            .isCloseTo(wanted, within(3e-5 + 3e-5 * Math.abs(wanted)));
      }
    }
  }

  private Matrix matrix(int rows, int columns) {
    return memory.matrix(rows, columns, floats(rows * columns));
  }

  private float[] floats(int count) {
    float[] values = new float[count];
    for (int i = 0; i < count; i++) {
      values[i] = (float) random.nextGaussian();
    }
    return values;
  }
}
