package org.draftmill.corpus.plan;

import java.util.Objects;
import org.draftmill.corpus.InputException;

/**
 * All that a plan depends on besides the dataset.
 *
 * @param seed chooses the order of sequences and of jobs
 * @param epochs number of job lists, at least 1
 * @param tokenBudget the most tokens in a job, at least 1
 * @param bounds the length buckets
 * @param oversized what happens to a sequence that is longer than the budget
 */
public record PlanOptions(
    long seed, int epochs, int tokenBudget, BucketBounds bounds, Oversized oversized) {
  public static final int DEFAULT_TOKEN_BUDGET = 49_152;

  /** The most epochs there may be: file names have four digits. */
  public static final int MAX_EPOCHS = 10_000;

  /**
   * @throws InputException if the number of epochs or the budget cannot be
   */
  public PlanOptions {
    Objects.requireNonNull(bounds);
    Objects.requireNonNull(oversized);
    if (epochs < 1 || epochs > MAX_EPOCHS) {
      throw new InputException(
          "The number of epochs is %d; it must be between 1 and %d.".formatted(epochs, MAX_EPOCHS));
    }
    if (tokenBudget < 1) {
      throw new InputException(
          "The token budget is " + tokenBudget + "; it must be at least 1 token.");
    }
  }

  /** One epoch with the defaults of the documentation. */
  public static PlanOptions withSeed(long seed) {
    return new PlanOptions(seed, 1, DEFAULT_TOKEN_BUDGET, BucketBounds.DEFAULT, Oversized.OWN_JOB);
  }
}
