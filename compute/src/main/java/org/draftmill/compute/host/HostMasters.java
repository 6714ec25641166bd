package org.draftmill.compute.host;

import java.util.function.IntConsumer;
import java.util.stream.IntStream;
import org.draftmill.compute.ops.AdamW;
import org.draftmill.compute.ops.ExactSums;
import org.draftmill.compute.ops.Fingerprint;
import org.draftmill.compute.ops.Masters;

/**
 * Weights and moments in arrays. Blocks of elements are independent and are shared out among the
 * processor's threads, whose number shows in no result.
 */
public final class HostMasters implements Masters {
  /** Elements whose gradient is at hand at once. */
  private static final int AT_ONCE = 4096;

  private final float[] weights; // [size]
  private final int from;
  private final int to;
  private final float[] first; // [to − from]
  private final float[] second; // [to − from]

  /**
   * @param weights {@code [size]}, taken over
   */
  public HostMasters(float[] weights, int from, int to) {
    this.weights = weights;
    this.from = from;
    this.to = to;
    this.first = new float[to - from];
    this.second = new float[to - from];
  }

  @Override
  public int size() {
    return weights.length;
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
  public HostMatrix view(int offset, int rows, int columns) {
    return new HostMatrix(weights, offset, rows, columns);
  }

  @Override
  public float[] toHost(int begin, int end) {
    return weights;
  }

  @Override
  public void write(float[] values, int begin, int end) {
    if (values != weights) {
      System.arraycopy(values, begin, weights, begin, end - begin);
    }
  }

  @Override
  public void readMoments(float[] firstMoments, float[] secondMoments) {
    System.arraycopy(first, 0, firstMoments, 0, first.length);
    System.arraycopy(second, 0, secondMoments, 0, second.length);
  }

  @Override
  public void writeMoments(float[] firstMoments, float[] secondMoments) {
    System.arraycopy(firstMoments, 0, first, 0, first.length);
    System.arraycopy(secondMoments, 0, second, 0, second.length);
  }

  @Override
  public void squares(ExactSums sums, double unit, double[] squares) {
    long[] gradient = sums.toHost();
    forEachBlock(
        from, to, begin -> squares[begin / BLOCK] = squares(gradient, unit, begin, end(begin, to)));
  }

  private static double squares(long[] gradient, double unit, int begin, int end) {
    int whole = end - (end - begin) % 4;
    double a = 0;
    double b = 0;
    double c = 0;
    double d = 0;
    for (int i = begin; i < whole; i += 4) {
      double g0 = gradient[i] * unit;
      double g1 = gradient[i + 1] * unit;
      double g2 = gradient[i + 2] * unit;
      double g3 = gradient[i + 3] * unit;
      a += g0 * g0;
      b += g1 * g1;
      c += g2 * g2;
      d += g3 * g3;
    }
    for (int i = whole; i < end; i++) {
      double g = gradient[i] * unit;
      a += g * g;
    }
    return (a + b) + (c + d);
  }

  @Override
  public void update(ExactSums sums, double factor, AdamW adamW, int begin, int end) {
    long[] gradient = sums.toHost();
    forEachBlock(
        begin,
        end,
        block -> {
          float[] some = new float[AT_ONCE];
          int last = end(block, end);
          for (int at = block; at < last; at += AT_ONCE) {
            int count = Math.min(AT_ONCE, last - at);
            for (int i = 0; i < count; i++) {
              some[i] = (float) (gradient[at + i] * factor);
            }
            moments(adamW, at - from, count, some);
            weights(adamW, at, count);
          }
        });
  }

  private void moments(AdamW adamW, int at, int count, float[] gradient) {
    float beta1 = adamW.beta1();
    float gain1 = adamW.gain1();
    float beta2 = adamW.beta2();
    float gain2 = adamW.gain2();
    for (int i = 0; i < count; i++) {
      float g = gradient[i];
      first[at + i] = beta1 * first[at + i] + gain1 * g;
      second[at + i] = beta2 * second[at + i] + gain2 * (g * g);
    }
  }

  private void weights(AdamW adamW, int begin, int count) {
    float rate = adamW.rate();
    float scale = adamW.secondScale();
    float epsilon = adamW.epsilon();
    float kept = adamW.kept();
    for (int i = begin; i < begin + count; i++) {
      float root = (float) Math.sqrt(second[i - from] * scale);
      weights[i] = weights[i] * kept - rate * first[i - from] / (root + epsilon);
    }
  }

  @Override
  public long fingerprint() {
    return IntStream.range(0, blocks(0, size()))
        .parallel()
        .mapToLong(b -> Fingerprint.of(weights, b * BLOCK, end(b * BLOCK, size())))
        .sum();
  }

  private static int blocks(int begin, int end) {
    return (int) (((long) end - begin + BLOCK - 1) / BLOCK);
  }

  private static int end(int begin, int end) {
    return (int) Math.min((long) begin + BLOCK, end);
  }

  private static void forEachBlock(int begin, int end, IntConsumer task) {
    IntStream.range(0, blocks(begin, end)).parallel().forEach(b -> task.accept(begin + b * BLOCK));
  }

  @Override
  public void close() {
    // heap memory
  }
}
