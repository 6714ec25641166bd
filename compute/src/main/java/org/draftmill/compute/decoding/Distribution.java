package org.draftmill.compute.decoding;

import java.util.SplittableRandom;
import org.draftmill.compute.ops.Matrix;

/** Probabilities over the vocabulary; refilled, never reallocated. */
final class Distribution {
  private float[] logits = new float[0];
  private double[] probabilities = new double[0];

  /** {@code softmax(row/temperature)} of a matrix {@code [1, vocabulary]}. */
  void fill(Matrix row, double temperature) {
    int vocabulary = row.columns();
    if (logits.length != vocabulary) {
      logits = new float[vocabulary];
      probabilities = new double[vocabulary];
    }
    row.read(logits, 0);
    double largest = Double.NEGATIVE_INFINITY;
    for (float logit : logits) {
      largest = Math.max(largest, logit);
    }
    double sum = 0;
    for (int i = 0; i < vocabulary; i++) {
      probabilities[i] = Math.exp((logits[i] - largest) / temperature);
      sum += probabilities[i];
    }
    for (int i = 0; i < vocabulary; i++) {
      probabilities[i] /= sum;
    }
  }

  double of(int token) {
    return probabilities[token];
  }

  int draw(SplittableRandom random) {
    return draw(null, 1, random);
  }

  /** Draws from what this gives more than {@code other}: {@code max(0, this − other)}, scaled. */
  int drawExcessOver(Distribution other, SplittableRandom random) {
    double sum = 0;
    for (int i = 0; i < probabilities.length; i++) {
      sum += excess(i, other);
    }
    return sum > 0 ? draw(other, sum, random) : draw(random);
  }

  /** The first token whose running sum exceeds a random point; the last likely one at the end. */
  private int draw(Distribution subtracted, double sum, SplittableRandom random) {
    double point = random.nextDouble() * sum;
    int last = 0;
    for (int i = 0; i < probabilities.length; i++) {
      double weight = excess(i, subtracted);
      if (weight > 0) {
        last = i;
        point -= weight;
        if (point < 0) {
          return i;
        }
      }
    }
    return last;
  }

  private double excess(int token, Distribution subtracted) {
    return subtracted == null
        ? probabilities[token]
        : Math.max(0, probabilities[token] - subtracted.probabilities[token]);
  }
}
