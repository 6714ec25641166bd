package org.draftmill.operators.drafter.collective;

import java.util.Optional;
import org.draftmill.compute.ops.ExactSums;
import org.draftmill.compute.ops.Matrix;
import org.draftmill.compute.ops.PeerValues;

/** Sums that other members take without the host, and that count how often they are taken. */
final class TestingDeviceSums implements ExactSums, PeerValues {
  final long[] values;
  int taken;
  boolean closed;

  TestingDeviceSums(long... values) {
    this.values = values;
  }

  @Override
  public int size() {
    return values.length;
  }

  @Override
  public Optional<PeerValues> forPeers() {
    return Optional.of(this);
  }

  @Override
  public void take(PeerValues peer, int from, int to) {
    TestingDeviceSums theirs = (TestingDeviceSums) peer;
    if (theirs.closed) {
      throw new IllegalStateException("its memory was given back");
    }
    for (int i = from; i < to; i++) {
      values[i] += theirs.values[i];
    }
    taken++;
  }

  @Override
  public long[] toHost() {
    return values.clone();
  }

  @Override
  public void write(long[] replaced, int from, int to) {
    System.arraycopy(replaced, from, values, from, to - from);
  }

  @Override
  public void add(Matrix matrix, int offset) {
    throw new UnsupportedOperationException();
  }

  @Override
  public boolean sound() {
    return true;
  }

  @Override
  public void clear() {}

  @Override
  public void close() {
    closed = true;
  }
}
