package org.draftmill.operators.pool;

import java.util.SortedSet;

/**
 * Which microbatch of a shard is released next. Counts the releases and remembers what was
 * released; {@link #released()} and {@link #places()} are all there is to remember.
 */
sealed interface ReleasePolicy permits SeededPolicy, AsReadyPolicy {

  /** No microbatch may be released. */
  long NONE = -1;

  /** A policy at the start of a shard's list of {@code size} jobs. */
  static ReleasePolicy start(ReleaseOrder order, long seed, int shard, int window, long size) {
    return order == ReleaseOrder.SEEDED
        ? SeededPolicy.start(seed, shard, window, size)
        : new AsReadyPolicy(seed, shard, 0, new long[0]);
  }

  /** A policy as it was when {@link #released()} and {@link #places()} were taken. */
  static ReleasePolicy restore(
      ReleaseOrder order,
      long seed,
      int shard,
      int window,
      long size,
      long released,
      long[] places) {
    return order == ReleaseOrder.SEEDED
        ? new SeededPolicy(seed, shard, window, size, released, places)
        : new AsReadyPolicy(seed, shard, released, places);
  }

  /**
   * The place of the next release among those that are ready, or {@link #NONE} if it is not. The
   * same as long as the same places are ready.
   */
  long choose(SortedSet<Long> ready);

  /** Counts the release of the place that was chosen. */
  void release(long place);

  /** Whether a place was released. */
  boolean isReleased(long place);

  /** Releases so far: the number of the next one. */
  long released();

  /** The places that, with the count, say which were released. Ascending. */
  long[] places();

  /**
   * A number in {@code [0, bound)} that is a pure function of seed, shard and release. Its bias is
   * below {@code bound / 2^32}. The mixing is SplitMix64's finalizer (Steele, Lea and Flood 2014).
   */
  static int draw(long seed, int shard, long release, int bound) {
    long golden = 0x9E3779B97F4A7C15L;
    long bits = mix(mix(mix(seed) + golden + shard) + golden + release);
    return (int) ((bits >>> 32) * bound >>> 32);
  }

  private static long mix(long z) {
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }
}
