package org.draftmill.corpus.plan;

import org.draftmill.corpus.Fingerprint;
import org.draftmill.corpus.InputException;

/**
 * What a job list says of itself.
 *
 * @param epoch the epoch, from 0
 * @param tokenBudget the most tokens of a job, but for an oversized sequence's own
 * @param seed the plan's seed
 * @param dataset the dataset whose sequences it names
 * @param jobs number of jobs
 * @param sequences number of sequences in all jobs together
 * @param tokens number of tokens in all jobs together
 * @param leftOut number of sequences left out since they are longer than the budget
 * @param largestJobTokens tokens of the largest job
 * @param largestJobSequences sequences of the job that has most
 * @param jobsPerBlock jobs in a block of the file
 * @param oversized what happened to sequences longer than the budget
 * @param bounds the length buckets
 */
public record JobListHeader(
    int epoch,
    int tokenBudget,
    long seed,
    Fingerprint dataset,
    long jobs,
    long sequences,
    long tokens,
    long leftOut,
    int largestJobTokens,
    int largestJobSequences,
    int jobsPerBlock,
    Oversized oversized,
    BucketBounds bounds) {
  /**
   * @throws InputException if a count is negative or they contradict each other
   */
  public JobListHeader {
    // Sequence ids have 32 bits, and a job has at least one sequence.
    if (epoch < 0
        || tokenBudget < 1
        || sequences < 0
        || sequences > Integer.MAX_VALUE
        || jobs < 0
        || jobs > sequences
        || leftOut < 0
        || tokens < sequences
        || largestJobTokens < 0
        || largestJobSequences < 0
        || jobsPerBlock < 1) {
      throw new InputException(
          "epoch %d, token budget %d, %d jobs of %d sequences with %d tokens, %d left out, largest job %d tokens, longest job %d sequences, %d jobs a block."
              .formatted(
                  epoch,
                  tokenBudget,
                  jobs,
                  sequences,
                  tokens,
                  leftOut,
                  largestJobTokens,
                  largestJobSequences,
                  jobsPerBlock));
    }
  }
}
