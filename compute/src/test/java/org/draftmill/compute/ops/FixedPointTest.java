package org.draftmill.compute.ops;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;

class FixedPointTest {
  @Test
  void isTheNearestMultipleOfTheUnit() {
    long[] sums = new long[5];
    float[] values = {1.5f, -0x1p-31f * 1.5f, 0x1p-32f, -0x1p22f, 0.1f};
    assertThat(FixedPoint.add(values, 0, 5, sums, 0)).isTrue();
    assertThat(sums).containsExactly(3L << 29, -1, 0, -(1L << 52), Math.round(0.1f * 0x1p30));
  }

  @Test
  void sumsAreTheSameInAnyOrder() {
    Random random = new Random(1);
    float[][] addends = new float[7][64];
    for (float[] addend : addends) {
      for (int i = 0; i < addend.length; i++) {
        addend[i] = (float) (random.nextGaussian() * Math.pow(10, random.nextInt(12) - 6));
      }
    }
    long[] up = new long[70];
    long[] down = new long[70];
    for (int a = 0; a < 7; a++) {
      assertThat(FixedPoint.add(addends[a], 0, 64, up, 6)).isTrue();
      assertThat(FixedPoint.add(addends[6 - a], 0, 64, down, 6)).isTrue();
    }
    assertThat(up).isEqualTo(down);
    assertThat(up[0]).isZero();
  }

  @Test
  void theLargestSumOfAStepDoesNotOverflow() {
    long[] sums = new long[1];
    float[] largest = {Math.nextDown(0x1p23f)};
    for (int i = 0; i < FixedPoint.MAX_ADDENDS; i++) {
      assertThat(FixedPoint.add(largest, 0, 1, sums, 0)).isTrue();
    }
    assertThat(sums[0]).isPositive();
    assertThat(sums[0] * FixedPoint.UNIT).isEqualTo(1024.0 * Math.nextDown(0x1p23f));
  }

  @Test
  void noticesWhatCannotBeSummed() {
    for (float bad :
        new float[] {Float.NaN, 1 / 0f, -1 / 0f, 0x1p23f, -0x1p23f, -Float.NaN, 1e30f}) {
      float[] values = {1, bad, 2};
      assertThat(FixedPoint.add(values, 0, 3, new long[3], 0)).as("%s", bad).isFalse();
      assertThat(FixedPoint.fits(bad)).as("%s", bad).isFalse();
    }
    assertThat(FixedPoint.add(new float[] {1, Float.NaN, 3}, 0, 1, new long[1], 0)).isTrue();
    assertThat(FixedPoint.add(new float[] {1, Float.NaN, 3}, 2, 1, new long[1], 0)).isTrue();
  }
}
