package org.draftmill.compute.ops;

/**
 * Rotary embedding: angle of pair {@code j} at position {@code p} is {@code p·inverseFrequency[j]};
 * column {@code j} pairs with column {@code j + headDim/2}. {@code scale} multiplies cosine and
 * sine (1 unless a long-context scaling says otherwise).
 */
public record RopeTable(double[] inverseFrequency, double scale) {
  public int headDim() {
    return 2 * inverseFrequency.length;
  }
}
