package org.draftmill.compute.host;

import java.util.Arrays;
import org.draftmill.compute.ops.ExactSums;
import org.draftmill.compute.ops.FixedPoint;
import org.draftmill.compute.ops.Matrix;

/** Exact sums in an array. */
public final class HostExactSums implements ExactSums {
  private final long[] sums;
  private boolean sound = true;

  public HostExactSums(int size) {
    this.sums = new long[size];
  }

  @Override
  public int size() {
    return sums.length;
  }

  @Override
  public void add(Matrix values, int offset) {
    HostMatrix from = HostMatrix.of(values);
    sound &= FixedPoint.add(from.data(), from.offset(), from.size(), sums, offset);
  }

  @Override
  public boolean sound() {
    return sound;
  }

  @Override
  public long[] toHost() {
    return sums;
  }

  @Override
  public void write(long[] values, int from, int to) {
    if (values != sums) {
      System.arraycopy(values, from, sums, from, to - from);
    }
  }

  @Override
  public void clear() {
    Arrays.fill(sums, 0);
    sound = true;
  }

  @Override
  public void close() {
    // heap memory
  }
}
