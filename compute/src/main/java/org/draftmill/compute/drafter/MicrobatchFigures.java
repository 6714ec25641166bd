package org.draftmill.compute.drafter;

/**
 * What one microbatch added to its step.
 *
 * @param rows its tokens
 * @param blocks draft blocks
 * @param supervised slots that count
 * @param hits of these, how many were drafted right
 * @param denominator Σ m·w
 * @param numerator Σ m·(w·l + cap)
 * @param jointPrefixSum length of the run of hits at the start of each block, added up
 * @param flagged whether some value was not finite or too large: the step will be skipped
 * @param forwardSeconds the layers, and the vocabulary head with the gradient it returns
 * @param backwardSeconds the layers backward, and adding to the sums
 */
public record MicrobatchFigures(
    int rows,
    long blocks,
    long supervised,
    long hits,
    double denominator,
    double numerator,
    long jointPrefixSum,
    boolean flagged,
    double forwardSeconds,
    double backwardSeconds) {

  /** Mean loss, NaN when nothing was supervised. */
  public double loss() {
    return numerator / denominator;
  }
}
