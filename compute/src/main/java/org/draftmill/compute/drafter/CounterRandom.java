package org.draftmill.compute.drafter;

import java.nio.charset.StandardCharsets;

/**
 * Random numbers that are a pure function of a key and a counter, so that they do not depend on how
 * many were drawn before, by which thread, or on the Java version: {@code bits(i)} is the {@code
 * i}-th output of SplitMix64 (Steele, Lea and Flood 2014) started at the key.
 */
final class CounterRandom {
  private static final long GOLDEN = 0x9E3779B97F4A7C15L;
  private static final double TWO_POW_MINUS_53 = 0x1p-53;

  private final long key;
  private long counter;

  private CounterRandom(long key) {
    this.key = key;
  }

  /** The generator of this seed and these further parts, each of which changes everything. */
  static CounterRandom of(long seed, long... parts) {
    long key = mix(seed);
    for (long part : parts) {
      key = mix(key + GOLDEN + part);
    }
    return new CounterRandom(key);
  }

  /** The generator of this seed and name. */
  static CounterRandom of(long seed, String name) {
    long hash = 0xCBF29CE484222325L; // FNV-1a
    for (byte b : name.getBytes(StandardCharsets.UTF_8)) {
      hash = (hash ^ (b & 0xFF)) * 0x100000001B3L;
    }
    return of(seed, hash);
  }

  /** The {@code index}-th 64 random bits; leaves the sequence of {@link #below} alone. */
  long bits(long index) {
    return mix(key + (index + 1) * GOLDEN);
  }

  /** The {@code index}-th uniform number, strictly between 0 and 1. */
  double uniform(long index) {
    return ((bits(index) >>> 11) + 0.5) * TWO_POW_MINUS_53;
  }

  /** The next integer in {@code [0, bound)}, without bias (Lemire's multiply-shift on 32 bits). */
  int below(int bound) {
    int threshold = Integer.remainderUnsigned(-bound, bound);
    while (true) {
      long product = (bits(counter++) >>> 32) * bound;
      if (Integer.compareUnsigned((int) product, threshold) >= 0) {
        return (int) (product >>> 32);
      }
    }
  }

  private static long mix(long z) {
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }
}
