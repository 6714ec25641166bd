package org.draftmill.compute.host;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Random;
import org.draftmill.compute.ops.AdamW;
import org.draftmill.compute.ops.ExactSums;
import org.draftmill.compute.ops.Masters;
import org.junit.jupiter.api.Test;

/** Against the formulas in fp64. */
class HostMastersTest {
  private static final int SIZE = Masters.BLOCK + 777;

  private final Random random = new Random(8);
  private final long[] sums = random.longs(SIZE, -1L << 50, 1L << 50).toArray();

  private ExactSums gradient() {
    ExactSums gradient = new HostExactSums(SIZE);
    gradient.write(sums);
    return gradient;
  }

  private float[] weights() {
    float[] weights = new float[SIZE];
    for (int i = 0; i < SIZE; i++) {
      weights[i] = (float) random.nextGaussian();
    }
    return weights;
  }

  @Test
  void updatesByTheFormulas() {
    float[] start = weights();
    HostMasters masters = new HostMasters(start.clone(), 0, SIZE);
    double[] m = new double[SIZE];
    double[] v = new double[SIZE];
    double[] p = new double[SIZE];
    for (int i = 0; i < SIZE; i++) {
      p[i] = start[i];
    }
    for (int t = 1; t <= 5; t++) {
      masters.update(gradient(), 0x1p-50, AdamW.of(0.01, 0.9, 0.95, 1e-8, 0.1, t), 0, SIZE);
      for (int i = 0; i < SIZE; i++) {
        double g = sums[i] * 0x1p-50;
        m[i] = 0.9 * m[i] + 0.1 * g;
        v[i] = 0.95 * v[i] + 0.05 * g * g;
        double rate = 0.01 / (1 - Math.pow(0.9, t));
        double root = Math.sqrt(v[i] / (1 - Math.pow(0.95, t)));
        p[i] = p[i] * (1 - 0.01 * 0.1) - rate * m[i] / (root + 1e-8);
      }
    }
    float[] found = masters.toHost(0, SIZE);
    for (int i = 0; i < SIZE; i++) {
      assertThat((double) found[i]).isCloseTo(p[i], within(1e-6 + 1e-6 * Math.abs(p[i])));
    }
  }

  @Test
  void squaresOfEachBlockAddUpToTheNorm() {
    double[] squares = {-1, -1, -1};
    new HostMasters(new float[SIZE + Masters.BLOCK], 0, SIZE).squares(gradient(), 0x1p-50, squares);
    for (int b = 0; b < 2; b++) {
      double expected = 0;
      for (int i = b * Masters.BLOCK; i < Math.min(SIZE, (b + 1) * Masters.BLOCK); i++) {
        expected += sums[i] * 0x1p-50 * sums[i] * 0x1p-50;
      }
      assertThat(squares[b]).isCloseTo(expected, within(1e-12 * expected));
    }
    assertThat(squares[2]).isEqualTo(-1);
  }

  @Test
  void fingerprintShowsEveryBitAndEveryPlace() {
    float[] weights = weights();
    HostMasters masters = new HostMasters(weights, 0, 0);
    long before = masters.fingerprint();
    for (int i : new int[] {0, 1, Masters.BLOCK, SIZE - 1}) {
      for (int bit = 0; bit < 32; bit++) {
        float kept = weights[i];
        weights[i] = Float.intBitsToFloat(Float.floatToRawIntBits(kept) ^ 1 << bit);
        assertThat(masters.fingerprint()).isNotEqualTo(before);
        weights[i] = kept;
      }
    }
    float swapped = weights[3];
    weights[3] = weights[4];
    weights[4] = swapped;
    assertThat(masters.fingerprint()).isNotEqualTo(before);
  }
}
