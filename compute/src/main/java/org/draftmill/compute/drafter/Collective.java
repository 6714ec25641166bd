package org.draftmill.compute.drafter;

import java.io.IOException;

/**
 * The drafters of a run as one group that adds up a step together. Every member calls the same
 * methods in the same order; a call returns when this member's part is done. All failures, a silent
 * peer included, are {@link IOException}s that name the peer.
 */
public interface Collective extends AutoCloseable {
  int rank();

  int size();

  /**
   * Replaces {@code values} by their sum over all members, on every member. Meant for tens of
   * values.
   */
  void allReduce(long[] values) throws IOException;

  /**
   * Sums {@code values} over all members; afterwards the part {@code bounds[rank] … bounds[rank +
   * 1] − 1} of this member's array holds the sums and the rest is undefined. {@code bounds} {@code
   * [size + 1]} ascends from 0 to {@code values.length}.
   */
  void reduceScatter(long[] values, int[] bounds) throws IOException;

  /**
   * Every member gives its part of {@code values} (by {@code bounds}, as above) and receives all
   * others' parts in place.
   */
  void allGather(float[] values, int[] bounds) throws IOException;

  /** The same for doubles. */
  void allGather(double[] values, int[] bounds) throws IOException;

  @Override
  void close();

  /** A group of one: nothing to exchange. */
  static Collective alone() {
    return new Collective() {
      @Override
      public int rank() {
        return 0;
      }

      @Override
      public int size() {
        return 1;
      }

      @Override
      public void allReduce(long[] values) {}

      @Override
      public void reduceScatter(long[] values, int[] bounds) {}

      @Override
      public void allGather(float[] values, int[] bounds) {}

      @Override
      public void allGather(double[] values, int[] bounds) {}

      @Override
      public void close() {}
    };
  }
}
