package org.draftmill.compute.cpu;

/**
 * Arithmetic on single floats, step for step what {@link VectorKernels} does in every lane, so that
 * the ends of rows and the plain fallback give the same bits.
 */
final class Scalar {
  /** A sum over a row is kept in this many lanes, element {@code i} in lane {@code i mod LANES}. */
  static final int LANES = 16;

  static final float LOG2_E = 1.44269504f;

  /** {@code 1.5·2^23}: adding it rounds to an integer and leaves that in the low bits. */
  static final float ROUND = 12582912f;

  /** ln 2 in two parts, the first short enough that its multiples are exact. */
  static final float LN2_HIGH = 0.693359375f;

  static final float LN2_LOW = -2.12194440e-4f;

  /** {@code (exp(r) − 1 − r)/r²} on {@code |r| ≤ ln2/2}, relative error of exp below 3.2e-9. */
  static final float C2 = 0.49999994f;

  static final float C3 = 0.1666652f;
  static final float C4 = 0.0416684f;
  static final float C5 = 0.008368852f;
  static final float C6 = 0.001381432f;

  /** Below this exp is zero (nothing depends on denormal numbers). */
  static final float EXP_LOW = -87f;

  /** Above this exp is infinite. */
  static final float EXP_HIGH = 88.72283f;

  private static final boolean FUSED = CpuFeatures.fusedMultiplyAdd();

  private Scalar() {}

  /** {@code a·b + c} with one rounding where the processor can, else with two. */
  static float fma(float a, float b, float c) {
    return FUSED ? Math.fma(a, b, c) : a * b + c;
  }

  /** Within about one unit in the last place; NaN for infinite negative x, which never occurs. */
  static float exp(float x) {
    float shifted = fma(x, LOG2_E, ROUND);
    float n = shifted - ROUND;
    float r = fma(n, -LN2_LOW, fma(n, -LN2_HIGH, x));
    float p = fma(fma(fma(fma(C6, r, C5), r, C4), r, C3), r, C2);
    p = fma(fma(p, r, 1f), r, 1f);
    float power =
        Float.intBitsToFloat(Float.floatToRawIntBits(p) + (Float.floatToRawIntBits(shifted) << 23));
    if (x > EXP_HIGH) {
      return Float.POSITIVE_INFINITY;
    }
    return x >= EXP_LOW ? power : x - x;
  }

  static float sigmoid(float x) {
    return 1f / (1f + exp(-x));
  }

  /** Adds up the lanes in pairs: halves of 8, 4, 2, 1. */
  static float total(float[] lanes) {
    for (int half = LANES / 2; half > 0; half /= 2) {
      for (int i = 0; i < half; i++) {
        lanes[i] += lanes[i + half];
      }
    }
    return lanes[0];
  }

  /** {@code 1/sqrt(squares/count + eps)}. */
  static float inverseRoot(float squares, int count, float eps) {
    return (float) (1 / Math.sqrt((double) squares / count + eps));
  }
}
