package org.draftmill.compute.reference;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Random;
import org.draftmill.compute.ops.Backend;
import org.draftmill.compute.ops.Blocks;
import org.draftmill.compute.ops.HeadLoss;
import org.draftmill.compute.ops.Heads;
import org.draftmill.compute.ops.Matrix;
import org.draftmill.compute.ops.Ops;
import org.draftmill.compute.ops.Ops.BlockAttentionGradients;
import org.draftmill.compute.ops.RopeTable;
import org.draftmill.compute.ops.Weight;
import org.draftmill.compute.ops.Workspace;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Every gradient of the reference against differences of its forward pass: {@code Σ out·seed} is
 * differentiated by each input value in turn.
 */
class ReferenceGradientTest {
  private static final float EPS = 1e-6f;
  private static final float STEP = 1f / 128;
  private static final double TOLERANCE = 2e-3;

  private final Backend backend = new ReferenceBackend();
  private final Workspace memory = backend.workspace();
  private final Ops ops = backend.ops();
  private final Random random = new Random(11);

  @AfterEach
  void close() {
    memory.close();
    backend.close();
  }

  private interface Loss {
    double value();
  }

  @Test
  void rmsNorm() {
    Matrix x = random(3, 10);
    Matrix weight = random(1, 5);
    Matrix out = memory.matrix(3, 10);
    Matrix seed = random(3, 10);
    Matrix dX = memory.matrix(3, 10);
    Matrix dWeight = memory.zeros(1, 5);
    ops.rmsNormBackward(x, weight, EPS, seed, dX, dWeight);
    Loss loss =
        () -> {
          ops.rmsNorm(x, weight, EPS, out);
          return dot(out, seed);
        };
    assertGradient("x", x, dX, loss);
    assertGradient("weight", weight, dWeight, loss);
  }

  @Test
  void rope() {
    RopeTable table = new RopeTable(new double[] {1, 0.3, 0.02}, 1.5);
    Matrix x = random(4, 12);
    Matrix seed = random(4, 12);
    Matrix dX = copy(seed);
    ops.ropeBackward(dX, memory.ints(0, 3, 9, 70), table);
    assertGradient(
        "x",
        x,
        dX,
        () -> {
          Matrix turned = copy(x);
          ops.rope(turned, memory.ints(0, 3, 9, 70), table);
          return dot(turned, seed);
        });
  }

  @Test
  void linear() {
    Matrix x = random(4, 6);
    Matrix w = random(5, 6);
    Matrix seed = random(4, 5);
    Matrix out = memory.matrix(4, 5);
    Matrix dX = random(4, 6);
    Matrix before = copy(dX);
    Matrix dW = memory.zeros(5, 6);
    ops.linearBackwardInput(seed, memory.arrange(w), dX, true);
    ops.linearBackwardWeight(seed, x, dW);
    Loss loss =
        () -> {
          ops.linear(x, memory.arrange(w), out);
          return dot(out, seed) + dot(x, before);
        };
    assertGradient("x", x, dX, loss);
    assertGradient("w", w, dW, loss);
  }

  @Test
  void swiglu() {
    Matrix gate = random(3, 7);
    Matrix up = random(3, 7);
    Matrix seed = random(3, 7);
    Matrix out = memory.matrix(3, 7);
    Matrix dGate = memory.matrix(3, 7);
    Matrix dUp = memory.matrix(3, 7);
    ops.swigluBackward(gate, up, seed, dGate, dUp);
    Loss loss =
        () -> {
          ops.swiglu(gate, up, out);
          return dot(out, seed);
        };
    assertGradient("gate", gate, dGate, loss);
    assertGradient("up", up, dUp, loss);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 4})
  void blockAttention(int window) {
    Heads heads = new Heads(4, 2, 6);
    Blocks blocks = new Blocks(3, new int[] {0, 0, 0, 9}, new int[] {0, 2, 8, 5}, window);
    int rows = blocks.rows();
    Matrix q = random(rows, 24);
    Matrix contextK = random(15, 12);
    Matrix contextV = random(15, 12);
    Matrix blockK = random(rows, 12);
    Matrix blockV = random(rows, 12);
    Matrix out = memory.matrix(rows, 24);
    Matrix logSumExp = memory.matrix(rows, 4);
    Matrix seed = random(rows, 24);
    ops.blockAttention(q, contextK, contextV, blockK, blockV, blocks, heads, out, logSumExp);
    BlockAttentionGradients gradients =
        new BlockAttentionGradients(
            memory.matrix(rows, 24),
            memory.zeros(15, 12),
            memory.zeros(15, 12),
            memory.matrix(rows, 12),
            memory.matrix(rows, 12));
    ops.blockAttentionBackward(
        gradients, q, contextK, contextV, blockK, blockV, blocks, heads, out, logSumExp, seed);
    Loss loss =
        () -> {
          ops.blockAttention(q, contextK, contextV, blockK, blockV, blocks, heads, out, logSumExp);
          return dot(out, seed);
        };
    assertGradient("q", q, gradients.dQ(), loss);
    assertGradient("context k", contextK, gradients.accumulatedDContextK(), loss);
    assertGradient("context v", contextV, gradients.accumulatedDContextV(), loss);
    assertGradient("block k", blockK, gradients.dBlockK(), loss);
    assertGradient("block v", blockV, gradients.dBlockV(), loss);
  }

  /** The weights are detached: they are held at what they were. */
  @ParameterizedTest
  @CsvSource({
    "false, 1, 0, NaN, 0",
    "true, 1, 0.4, NaN, 0",
    "true, 2, 1, NaN, 0",
    "false, 1, 0, 0.5, 0.7",
    "true, 3, 0.5, 0, 0.2"
  })
  void headLoss(boolean soft, float temperature, float klWeight, float alpha, float lambda) {
    int slots = 6;
    HeadLoss loss =
        new HeadLoss(
            3,
            new int[] {1, 0, 2, 2, 1, 3},
            new byte[] {1, 1, 0, 1, 0, 1},
            new int[] {0, 1, 1, 2, 3, 0},
            3,
            new HeadLoss.Settings(soft, temperature, klWeight, 4f, alpha, lambda));
    Matrix x = random(slots, 5);
    Weight head = memory.arrange(random(4, 5));
    Matrix teachers = random(4, 5);
    Matrix dX = memory.matrix(slots, 5);
    float[] weight = ops.headLoss(x, head, teachers, loss, memory, dX).weight();
    assertGradient(
        "x",
        x,
        dX,
        () -> {
          HeadLoss.Result result = ops.headLoss(x, head, teachers, loss, memory, null);
          double sum = 0;
          for (int i = 0; i < slots; i++) {
            double value = result.loss()[i] + (double) lambda * result.confidence()[i];
            sum += loss.supervised()[i] * (double) weight[i] * value;
          }
          return sum;
        });
  }

  /** Each value is moved up and down by one step and by two: errors are of the fourth order. */
  private static void assertGradient(String name, Matrix x, Matrix gradient, Loss loss) {
    float[] values = x.toArray();
    float[] expected = gradient.toArray();
    for (int i = 0; i < values.length; i++) {
      double near = moved(x, values, i, STEP, loss) - moved(x, values, i, -STEP, loss);
      double far = moved(x, values, i, 2 * STEP, loss) - moved(x, values, i, -2 * STEP, loss);
      x.write(values, 0);
      double difference = (8 * near - far) / (12 * STEP);
      assertThat((double) expected[i])
          .as("gradient of %s[%d]", name, i)
          .isCloseTo(difference, within(TOLERANCE * (1 + Math.abs(difference))));
    }
  }

  private static double moved(Matrix x, float[] values, int i, float by, Loss loss) {
    float[] changed = values.clone();
    changed[i] += by;
    x.write(changed, 0);
    return loss.value();
  }

  private static double dot(Matrix x, Matrix y) {
    float[] a = x.toArray();
    float[] b = y.toArray();
    double sum = 0;
    for (int i = 0; i < a.length; i++) {
      sum += (double) a[i] * b[i];
    }
    return sum;
  }

  private Matrix copy(Matrix x) {
    return memory.matrix(x.rows(), x.columns(), x.toArray());
  }

  private Matrix random(int rows, int columns) {
    float[] values = new float[rows * columns];
    for (int i = 0; i < values.length; i++) {
      values[i] = (float) random.nextGaussian();
    }
    return memory.matrix(rows, columns, values);
  }
}
