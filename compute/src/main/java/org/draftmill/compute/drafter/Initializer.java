package org.draftmill.compute.drafter;

import java.util.Arrays;
import java.util.stream.IntStream;

/**
 * First values of the weights: matrices normal with deviation 0.02, or {@code 0.6/√fan_in} in small
 * models (hidden size up to 512), norms 1. Each value is a function of the seed, the tensor's name
 * and the element's index alone, so a drafter with more layers begins with the same values in those
 * it shares.
 */
public final class Initializer {
  private static final int SMALL_HIDDEN_SIZE = 512;

  private final long seed;

  public Initializer(long seed) {
    this.seed = seed;
  }

  /** All weights of a new drafter, {@code [layout.size()]}. */
  public float[] weights(DrafterConfig config, ParameterLayout layout) {
    float[] weights = new float[layout.size()];
    boolean small = config.hiddenSize() <= SMALL_HIDDEN_SIZE;
    for (ParameterLayout.Parameter parameter : layout.parameters()) {
      if (parameter.matrix()) {
        double deviation = small ? 0.6 / Math.sqrt(parameter.columns()) : 0.02;
        normal(parameter, deviation, weights);
      } else {
        Arrays.fill(weights, parameter.offset(), parameter.offset() + parameter.size(), 1f);
      }
    }
    return weights;
  }

  private void normal(ParameterLayout.Parameter parameter, double deviation, float[] weights) {
    CounterRandom random = CounterRandom.of(seed, parameter.name());
    IntStream.range(0, parameter.rows())
        .parallel()
        .forEach(
            row -> {
              int first = row * parameter.columns();
              for (int i = first; i < first + parameter.columns(); i++) {
                weights[parameter.offset() + i] =
                    (float) (deviation * NormalQuantile.of(random.uniform(i)));
              }
            });
  }
}
