package org.draftmill.corpus.plan;

import java.util.List;
import org.draftmill.corpus.Fingerprint;
import org.draftmill.corpus.InputException;

/**
 * The content of {@code plan.json}.
 *
 * @param dataset fingerprint of the planned dataset
 * @param seed chooses the orders
 * @param tokenBudget the most tokens in a job
 * @param bucketBounds the length buckets, see {@link BucketBounds}
 * @param oversized {@code own-job} or {@code reject}
 * @param jobs number of jobs of all epochs
 * @param tokens number of tokens of all epochs
 * @param supervisedTokens number of tokens with a mask of one, of all epochs
 * @param largestJobTokens tokens of the largest job
 * @param largestJobSequences sequences of the job that has most
 * @param leftOutSequences sequences that no epoch holds since they are longer than the budget
 * @param epochs the job lists in order
 */
public record PlanManifest(
    String dataset,
    long seed,
    int tokenBudget,
    List<Integer> bucketBounds,
    String oversized,
    long jobs,
    long tokens,
    long supervisedTokens,
    int largestJobTokens,
    int largestJobSequences,
    long leftOutSequences,
    List<Epoch> epochs) {
  /**
   * One job list.
   *
   * @param file its name in the plan's directory
   * @param bytes its length
   * @param sha256 its checksum
   * @param buckets what each length bucket holds
   */
  public record Epoch(
      String file,
      long jobs,
      long sequences,
      long tokens,
      long supervisedTokens,
      int largestJobTokens,
      int largestJobSequences,
      long bytes,
      String sha256,
      List<Bucket> buckets) {
    public Epoch {
      if (!file.matches("epoch-\\d{4,}\\.jobs") || jobs < 0) {
        throw new InputException("it lists the file '" + file + "' with " + jobs + " jobs.");
      }
      buckets = List.copyOf(buckets);
    }
  }

  /**
   * A length bucket of one epoch.
   *
   * @param lengths in words, such as {@code 513-1024}
   */
  public record Bucket(String lengths, long jobs, long sequences, long tokens) {}

  /**
   * @throws InputException if the values cannot be those of a plan
   */
  public PlanManifest {
    epochs = List.copyOf(epochs);
    bucketBounds = new BucketBounds(bucketBounds).upper();
    new Fingerprint(dataset);
    Oversized.parse(oversized);
    if (jobs != epochs.stream().mapToLong(Epoch::jobs).sum()
        || tokens != epochs.stream().mapToLong(Epoch::tokens).sum()
        || supervisedTokens != epochs.stream().mapToLong(Epoch::supervisedTokens).sum()
        || largestJobTokens != epochs.stream().mapToInt(Epoch::largestJobTokens).max().orElse(0)
        || largestJobSequences
            != epochs.stream().mapToInt(Epoch::largestJobSequences).max().orElse(0)) {
      throw new InputException(
          "its totals are not those of the job lists that it names; it was edited or damaged.");
    }
  }

  /** The options that made the plan. */
  public PlanOptions options() {
    return new PlanOptions(
        seed,
        epochs.size(),
        tokenBudget,
        new BucketBounds(bucketBounds),
        Oversized.parse(oversized));
  }
}
