package org.draftmill.compute.cpu;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ScalarTest {

  @Test
  void expIsWithinTwoUnitsInTheLastPlace() {
    double worst = 0;
    for (float x = -87f; x < 88.7f; x += 0.000913f) {
      double exact = Math.exp(x);
      double unit = Math.ulp((float) exact);
      worst = Math.max(worst, Math.abs(Scalar.exp(x) - exact) / unit);
    }
    assertThat(worst).isLessThan(1.5);
  }

  @Test
  void expAtItsEnds() {
    assertThat(Scalar.exp(0f)).isEqualTo(1f);
    assertThat(Scalar.exp(-88f)).isEqualTo(0f);
    assertThat(Scalar.exp(Kernels.HIDDEN - Kernels.LEAST)).isEqualTo(0f);
    assertThat(Scalar.exp(88.7f)).isLessThan(Float.POSITIVE_INFINITY);
    assertThat(Scalar.exp(89f)).isEqualTo(Float.POSITIVE_INFINITY);
    assertThat(Scalar.exp(Float.NaN)).isNaN();
  }

  @Test
  void vectorsGiveTheBitsOfScalars() {
    int n = 3 * VectorKernels.L + 5;
    float[] x = new float[n];
    for (int i = 0; i < n; i++) {
      x[i] = -95f + i * 185f / n;
    }
    x[1] = Float.NaN;
    float[] vector = new float[n];
    VectorExp.exp(x, 0, 1f, 0f, vector, 0, n);
    for (int i = 0; i < n; i++) {
      int expected = Float.floatToIntBits(Scalar.exp(x[i]));
      assertThat(Float.floatToIntBits(vector[i])).as("exp(%s)", x[i]).isEqualTo(expected);
    }
  }

  @Test
  void lanesAddUpInPairs() {
    float[] lanes = new float[Scalar.LANES];
    lanes[0] = 1e8f;
    lanes[8] = -1e8f;
    lanes[1] = 3f;
    assertThat(Scalar.total(lanes)).isEqualTo(3f);
  }
}
