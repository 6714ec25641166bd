package org.draftmill.compute.ops;

/**
 * Numbers as 64-bit integers in units of a constant power of two, so that their sum is the same in
 * whatever order and over however many drafters it is formed.
 *
 * <p>What is summed is the gradient of {@code Σ m·(w·l + cap)}, which is not divided by the number
 * of slots. A unit is 2⁻³⁰. Each addend must lie below 2²³ in magnitude, and a step may have at
 * most 2¹⁰ addends, one for each pass over a group of documents: 30 + 23 + 10 = 63 bits, so no sum
 * overflows. docs/drafter.md shows why both ends are far from what training meets.
 */
public final class FixedPoint {
  public static final double UNIT = 0x1p-30;

  private static final double UNITS = 0x1p30;

  /** Addends are smaller than this in magnitude. */
  public static final double LIMIT = 0x1p23;

  /** Most addends of a step. */
  public static final int MAX_ADDENDS = 1 << 10;

  private static final int LIMIT_BITS = Float.floatToRawIntBits((float) LIMIT) - 1;
  private static final int MAGNITUDE = 0x7FFFFFFF;

  private FixedPoint() {}

  /**
   * Adds {@code values[from … from + count − 1]} to {@code sums} from {@code offset} on.
   *
   * @return whether all were finite and within the limit; otherwise the sums are of no use
   */
  public static boolean add(float[] values, int from, int count, long[] sums, int offset) {
    int excess = 0;
    for (int i = 0; i < count; i++) {
      float value = values[from + i];
      sums[offset + i] += (long) Math.rint(value * UNITS);
      // Negative when the magnitude, as ordered bits, exceeds the limit; infinities and NaN do.
      excess |= LIMIT_BITS - (Float.floatToRawIntBits(value) & MAGNITUDE);
    }
    return excess >= 0;
  }

  /** The integer nearest to {@code value} units; the caller has checked {@link #fits}. */
  public static long of(double value) {
    return (long) Math.rint(value * UNITS);
  }

  public static boolean fits(double value) {
    return Math.abs(value) < LIMIT;
  }
}
