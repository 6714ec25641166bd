package org.draftmill.job.train;

import org.draftmill.compute.InputException;

/**
 * The sums of an optimizer step hold so many forward and backward passes and no more. A drafter
 * would find that out when the step ends; here it is found before the run starts.
 */
final class PassLimit {
  /** What the 64-bit sums of a step hold, see docs/drafter.md. */
  static final long PASSES = 1 << 10;

  private PassLimit() {}

  /**
   * What the passes of a step depend on.
   *
   * @param jobTokens tokens of the largest job
   * @param jobSequences most sequences of a job
   * @param blockSize rows of a draft block
   * @param anchors most blocks of a document
   * @param passRows rows that a pass may hold
   * @param accumulation microbatches of a step
   */
  record Step(
      long jobTokens,
      long jobSequences,
      long blockSize,
      long anchors,
      long passRows,
      long accumulation) {

    /**
     * The passes of a step of such jobs, all of whose tokens are supervised, filled as far as may
     * be. A document is never split, so there are no more than documents, and passes may be less
     * full; but tokens of users are not supervised, and few jobs are the largest.
     */
    long passes() {
      long rows = blockSize * Math.min(jobTokens, anchors * jobSequences);
      return accumulation * Math.min(jobSequences, (rows + passRows - 1) / passRows);
    }
  }

  /**
   * @throws InputException if a step of large jobs has more passes than its sums hold
   */
  static void require(Step step) {
    if (step.passes() > PASSES) {
      throw new InputException(
          "An optimizer step would take about %d passes over blocks of drafts, but its sums hold %d: raise drafter.pass-rows = %d, or lower drafter.accumulation = %d, jobs.token-budget or drafter.anchors."
              .formatted(step.passes(), PASSES, step.passRows(), step.accumulation()));
    }
  }
}
