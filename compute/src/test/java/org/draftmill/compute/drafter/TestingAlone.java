package org.draftmill.compute.drafter;

import java.util.Arrays;

/** A place in a group whose other members are silent and hold the same: for steps of nothing. */
final class TestingAlone {
  private TestingAlone() {}

  static Collective as(int rank, int size) {
    Collective alone = Collective.alone();
    return new Collective() {
      @Override
      public int rank() {
        return rank;
      }

      @Override
      public int size() {
        return size;
      }

      @Override
      public void allReduce(long[] values) {
        if (values.length == size) { // what WeightAgreement compares, a value of each member
          Arrays.fill(values, values[rank]);
        }
      }

      @Override
      public void reduceScatter(long[] values, int[] bounds) {}

      @Override
      public void allGather(float[] values, int[] bounds) {}

      @Override
      public void allGather(double[] values, int[] bounds) {}

      @Override
      public void close() {
        alone.close();
      }
    };
  }
}
