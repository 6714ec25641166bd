package org.draftmill.corpus.plan;

/**
 * A counter-based generator of 64-bit values: the state walks by the golden ratio and each state is
 * scrambled by a bijection (Steele, Lea and Flood, "Fast splittable pseudorandom number
 * generators", OOPSLA 2014; the constants are those of Stafford's variant 13).
 *
 * <p>A generator is named by a path of numbers ({@code seed, epoch, ...}); generators of different
 * paths are independent for all practical purposes, and the same path yields the same values for
 * ever, on every machine and Java version. Plans depend on these values: they never change.
 */
public final class SplitMix64 {
  private static final long GOLDEN_RATIO = 0x9E3779B97F4A7C15L;

  private long state;

  private SplitMix64(long state) {
    this.state = state;
  }

  /** The generator named by {@code path}; order and length of the path matter. */
  public static SplitMix64 of(long... path) {
    long hash = mix(path.length + GOLDEN_RATIO);
    for (long step : path) {
      hash = mix(hash + GOLDEN_RATIO + mix(step + GOLDEN_RATIO));
    }
    return new SplitMix64(hash);
  }

  /** The next 64 bits. */
  public long nextLong() {
    state += GOLDEN_RATIO;
    return mix(state);
  }

  /** A uniform value in {@code [0, bound)}, without bias (Lemire's multiplication method). */
  public int nextInt(int bound) {
    if (bound <= 0) {
      throw new IllegalArgumentException("bound must be positive, got " + bound);
    }
    long product = (nextLong() >>> 32) * bound;
    long low = product & 0xFFFFFFFFL;
    if (low < bound) {
      long threshold = (1L << 32) % bound;
      while (low < threshold) {
        product = (nextLong() >>> 32) * bound;
        low = product & 0xFFFFFFFFL;
      }
    }
    return (int) (product >>> 32);
  }

  /** Puts {@code values} into a uniformly random order (Fisher and Yates). */
  public void shuffle(int[] values) {
    for (int i = values.length - 1; i > 0; i--) {
      int j = nextInt(i + 1);
      int swapped = values[i];
      values[i] = values[j];
      values[j] = swapped;
    }
  }

  private static long mix(long z) {
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }
}
