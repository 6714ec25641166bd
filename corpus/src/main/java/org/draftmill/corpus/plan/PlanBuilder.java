package org.draftmill.corpus.plan;

import java.util.Arrays;
import org.draftmill.corpus.Fingerprint;
import org.draftmill.corpus.InputException;

/**
 * Forms the job lists of a dataset.
 *
 * <p>An epoch is made in four steps: the sequences are shuffled; they fall, in that order, into
 * their length buckets; each bucket is cut into batches that stay within the token budget; all
 * batches are shuffled into one list. A batch counts real tokens only, since the target packs its
 * sequences without padding. The last step treats full batches and the one partial batch that ends
 * each bucket alike, so a rare bucket is spread over the list and nothing gathers at its tail.
 *
 * <p>The result is a function of the lengths, the dataset's fingerprint, the options and the epoch.
 * It needs about twelve bytes of heap a sequence, besides the lengths.
 */
public final class PlanBuilder {
  private final int[] lengths;
  private final PlanOptions options;
  private final long datasetSeed;

  /**
   * @param lengths tokens of each sequence of the dataset, indexed by sequence id; not copied
   * @param fingerprint the dataset's fingerprint
   * @throws InputException if the dataset is empty or has a sequence without tokens
   */
  public PlanBuilder(int[] lengths, Fingerprint fingerprint, PlanOptions options) {
    this.lengths = lengths;
    this.options = options;
    this.datasetSeed = fingerprint.seed();
    if (lengths.length == 0) {
      throw new InputException("The dataset has no sequences, so there is nothing to plan.");
    }
    for (int id = 0; id < lengths.length; id++) {
      if (lengths[id] < 1) {
        throw new InputException(
            "Sequence " + id + " of the dataset has " + lengths[id] + " tokens; each needs one.");
      }
    }
  }

  /**
   * Forms the list of one epoch.
   *
   * @throws InputException if no sequence is left under {@link Oversized#REJECT}
   */
  public PlannedEpoch epoch(int epoch) {
    int[] shuffled = new int[lengths.length];
    for (int id = 0; id < shuffled.length; id++) {
      shuffled[id] = id;
    }
    SplitMix64.of(options.seed(), datasetSeed, epoch, 0).shuffle(shuffled);

    int[] ends = new int[options.bounds().buckets() + 1];
    int[] sequences = intoBuckets(shuffled, ends);
    int[] starts = intoBatches(sequences, ends);

    int[] order = new int[starts.length - 1];
    for (int batch = 0; batch < order.length; batch++) {
      order[batch] = batch;
    }
    SplitMix64.of(options.seed(), datasetSeed, epoch, 1).shuffle(order);
    return new PlannedEpoch(epoch, lengths, sequences, starts, order, options.bounds());
  }

  /** Whether {@link Oversized#REJECT} leaves this sequence out. */
  public boolean leavesOut(int id) {
    return options.oversized() == Oversized.REJECT && lengths[id] > options.tokenBudget();
  }

  /**
   * A stable counting sort by bucket; sequences longer than the budget come last, in a group of
   * their own, or not at all.
   *
   * @param ends filled with the end of each group in the result
   */
  private int[] intoBuckets(int[] shuffled, int[] ends) {
    for (int id : shuffled) {
      ends[groupOf(id)]++;
    }
    int oversized = ends.length - 1;
    if (options.oversized() == Oversized.REJECT) {
      ends[oversized] = 0;
    }
    int planned = 0;
    int[] next = new int[ends.length];
    for (int group = 0; group < ends.length; group++) {
      next[group] = planned;
      planned += ends[group];
      ends[group] = planned;
    }
    if (planned == 0) {
      throw new InputException(
          "Every sequence is longer than the token budget of %d and jobs.oversized is reject, so the plan would be empty; raise the budget or choose own-job."
              .formatted(options.tokenBudget()));
    }
    int[] sequences = new int[planned];
    for (int id : shuffled) {
      if (!leavesOut(id)) {
        sequences[next[groupOf(id)]++] = id;
      }
    }
    return sequences;
  }

  private int groupOf(int id) {
    return lengths[id] > options.tokenBudget()
        ? options.bounds().buckets()
        : options.bounds().bucketOf(lengths[id]);
  }

  /** Cuts each group into batches within the budget; the starts of all of them, and the end. */
  private int[] intoBatches(int[] sequences, int[] ends) {
    int[] starts = new int[1024];
    int batches = 0;
    int from = 0;
    for (int end : ends) {
      long tokens = Long.MAX_VALUE / 2; // the first sequence of a group opens a batch
      for (int i = from; i < end; i++) {
        int length = lengths[sequences[i]];
        if (tokens + length > options.tokenBudget()) {
          if (batches + 1 == starts.length) {
            starts = Arrays.copyOf(starts, starts.length * 2);
          }
          starts[batches++] = i;
          tokens = 0;
        }
        tokens += length;
      }
      from = end;
    }
    starts[batches] = sequences.length;
    return Arrays.copyOf(starts, batches + 1);
  }
}
