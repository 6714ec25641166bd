package org.draftmill.compute.drafter;

import org.draftmill.compute.drafter.ParameterLayout.Parameter;

/**
 * AdamW (Loshchilov and Hutter 2019) on one drafter's shard of the parameters, in fp32, element by
 * element:
 *
 * <pre>
 * m = β1·m + (1 − β1)·g      v = β2·v + (1 − β2)·g²
 * p = p·(1 − lr·decay)       matrices only
 * p = p − lr·(m/(1 − β1ᵗ)) / (√(v/(1 − β2ᵗ)) + ε)
 * </pre>
 */
final class AdamW {
  private final OptimizerSettings settings;
  private final ParameterLayout layout;
  private final int from;
  private final int to;
  private final float[] first; // [to − from] first moment
  private final float[] second; // [to − from] second moment

  AdamW(OptimizerSettings settings, ParameterLayout layout, int from, int to) {
    this.settings = settings;
    this.layout = layout;
    this.from = from;
    this.to = to;
    this.first = new float[to - from];
    this.second = new float[to - from];
  }

  /** What a step multiplies with, computed once in double. */
  record Rates(
      float beta1,
      float gain1,
      float beta2,
      float gain2,
      float rate,
      float secondScale,
      float epsilon,
      float kept) {}

  /**
   * @param update number of this update, from 1
   */
  Rates rates(double learningRate, long update) {
    return new Rates(
        (float) settings.beta1(),
        (float) (1 - settings.beta1()),
        (float) settings.beta2(),
        (float) (1 - settings.beta2()),
        (float) (learningRate / (1 - StrictMath.pow(settings.beta1(), update))),
        (float) (1 / (1 - StrictMath.pow(settings.beta2(), update))),
        (float) settings.epsilon(),
        (float) (1 - learningRate * settings.weightDecay()));
  }

  /**
   * Updates the elements {@code begin … end − 1}, which lie in the shard.
   *
   * @param gradient {@code [end − begin]} from index 0 on
   * @param weights {@code [parameters]}
   */
  void update(Rates rates, int begin, int end, float[] gradient, float[] weights) {
    moments(rates, begin - from, end - begin, gradient);
    if (rates.kept != 1f) {
      decay(rates.kept, begin, end, weights);
    }
    for (int i = begin; i < end; i++) {
      float m = first[i - from];
      float v = second[i - from];
      weights[i] -= rates.rate * m / ((float) Math.sqrt(v * rates.secondScale) + rates.epsilon);
    }
  }

  private void moments(Rates rates, int at, int count, float[] gradient) {
    float beta1 = rates.beta1;
    float gain1 = rates.gain1;
    float beta2 = rates.beta2;
    float gain2 = rates.gain2;
    for (int i = 0; i < count; i++) {
      float g = gradient[i];
      first[at + i] = beta1 * first[at + i] + gain1 * g;
      second[at + i] = beta2 * second[at + i] + gain2 * (g * g);
    }
  }

  private void decay(float kept, int begin, int end, float[] weights) {
    for (Parameter parameter : layout.parameters()) {
      if (parameter.matrix()) {
        int last = Math.min(end, parameter.offset() + parameter.size());
        for (int i = Math.max(begin, parameter.offset()); i < last; i++) {
          weights[i] *= kept;
        }
      }
    }
  }

  /** First moments of the shard. */
  float[] first() {
    return first;
  }

  /** Second moments of the shard. */
  float[] second() {
    return second;
  }
}
