package org.draftmill.compute.ops;

/**
 * A hash of floats that may be formed in any order: the sum, modulo 2⁶⁴, of each one's bits mixed
 * with its place. The mixing loses nothing, so a change of one value always shows.
 */
public final class Fingerprint {
  private static final long MIX = 0x9E3779B97F4A7C15L;
  private static final long SPREAD = 0xBF58476D1CE4E5B9L;

  private Fingerprint() {}

  /** That of the elements {@code from … to − 1}, a part of the sum over all. */
  public static long of(float[] values, int from, int to) {
    long sum = 0;
    for (int i = from; i < to; i++) {
      long bits = Float.floatToRawIntBits(values[i]) & 0xFFFFFFFFL;
      long mixed = ((long) i << 32 | bits) * MIX;
      sum += (mixed ^ mixed >>> 32) * SPREAD;
    }
    return sum;
  }
}
