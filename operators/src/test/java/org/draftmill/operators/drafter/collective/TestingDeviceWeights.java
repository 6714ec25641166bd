package org.draftmill.operators.drafter.collective;

import java.util.Optional;
import org.draftmill.compute.ops.AdamW;
import org.draftmill.compute.ops.ExactSums;
import org.draftmill.compute.ops.Masters;
import org.draftmill.compute.ops.Matrix;
import org.draftmill.compute.ops.PeerValues;

/** Weights that other members take without the host, and that count how often they are taken. */
final class TestingDeviceWeights implements Masters, PeerValues {
  final float[] values;
  int taken;
  private final int from;
  private final int to;

  TestingDeviceWeights(float[] values, int from, int to) {
    this.values = values;
    this.from = from;
    this.to = to;
  }

  @Override
  public int size() {
    return values.length;
  }

  @Override
  public int from() {
    return from;
  }

  @Override
  public int to() {
    return to;
  }

  @Override
  public Optional<PeerValues> forPeers() {
    return Optional.of(this);
  }

  @Override
  public void take(PeerValues peer, int begin, int end) {
    System.arraycopy(((TestingDeviceWeights) peer).values, begin, values, begin, end - begin);
    taken++;
  }

  @Override
  public float[] toHost(int begin, int end) {
    return values.clone();
  }

  @Override
  public void write(float[] weights, int begin, int end) {
    System.arraycopy(weights, begin, values, begin, end - begin);
  }

  @Override
  public Matrix view(int offset, int rows, int columns) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void readMoments(float[] first, float[] second) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void writeMoments(float[] first, float[] second) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void squares(ExactSums sums, double unit, double[] squares) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void update(ExactSums sums, double factor, AdamW adamW, int begin, int end) {
    throw new UnsupportedOperationException();
  }

  @Override
  public long fingerprint() {
    throw new UnsupportedOperationException();
  }

  @Override
  public void close() {}
}
