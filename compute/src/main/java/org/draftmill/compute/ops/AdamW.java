package org.draftmill.compute.ops;

/**
 * What one update by AdamW (Loshchilov and Hutter 2019) multiplies with, computed once in double
 * and rounded. Element by element, in fp32, each operation rounded by itself:
 *
 * <pre>
 * m = β1·m + (1 − β1)·g      v = β2·v + (1 − β2)·g²
 * p = p·(1 − lr·decay)
 * p = p − lr·(m/(1 − β1ᵗ)) / (√(v/(1 − β2ᵗ)) + ε)
 * </pre>
 *
 * @param gain1 {@code 1 − β1}
 * @param gain2 {@code 1 − β2}
 * @param rate {@code lr/(1 − β1ᵗ)}
 * @param secondScale {@code 1/(1 − β2ᵗ)}
 * @param kept {@code 1 − lr·decay}
 */
public record AdamW(
    float beta1,
    float gain1,
    float beta2,
    float gain2,
    float rate,
    float secondScale,
    float epsilon,
    float kept) {

  /**
   * @param update number of this update, t, from 1
   */
  public static AdamW of(
      double learningRate,
      double beta1,
      double beta2,
      double epsilon,
      double weightDecay,
      long update) {
    return new AdamW(
        (float) beta1,
        (float) (1 - beta1),
        (float) beta2,
        (float) (1 - beta2),
        (float) (learningRate / (1 - StrictMath.pow(beta1, update))),
        (float) (1 / (1 - StrictMath.pow(beta2, update))),
        (float) epsilon,
        (float) (1 - learningRate * weightDecay));
  }

  /** The same for weights that do not decay. */
  public AdamW withoutDecay() {
    return new AdamW(beta1, gain1, beta2, gain2, rate, secondScale, epsilon, 1);
  }
}
