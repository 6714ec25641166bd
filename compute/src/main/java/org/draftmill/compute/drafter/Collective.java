package org.draftmill.compute.drafter;

import java.io.IOException;
import org.draftmill.compute.ops.ExactSums;
import org.draftmill.compute.ops.Masters;

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

  /**
   * Sums what lies on the members' devices; of this member's the part {@code bounds[rank] …
   * bounds[rank + 1] − 1} then is the sum and the rest undefined. By way of the host, unless the
   * members know better.
   */
  default void reduceScatter(ExactSums sums, int[] bounds) throws IOException {
    if (size() > 1) {
      long[] values = sums.toHost();
      reduceScatter(values, bounds);
      sums.write(values, bounds[rank()], bounds[rank() + 1]);
    }
  }

  /**
   * Every member gives its shard of the weights on its device, which is its part by {@code bounds},
   * and receives all others'. By way of the host, unless the members know better.
   */
  default void allGather(Masters weights, int[] bounds) throws IOException {
    if (size() > 1) {
      int from = bounds[rank()];
      int to = bounds[rank() + 1];
      float[] values = weights.toHost(from, to);
      allGather(values, bounds);
      weights.write(values, 0, from);
      weights.write(values, to, values.length);
    }
  }

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
