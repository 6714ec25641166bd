package org.draftmill.corpus.plan;

/**
 * The jobs of one epoch in memory, in four primitive arrays.
 *
 * <p>Job {@code i} of the list is batch {@code order[i]}; batch {@code b} holds {@code
 * sequences[starts[b] .. starts[b + 1])}. Lengths are those of the dataset. Not to be modified.
 */
public final class PlannedEpoch {
  private final int epoch;
  private final int[] lengths; // [sequences of the dataset]
  private final int[] sequences; // [planned sequences], grouped by batch
  private final int[] starts; // [batches + 1]
  private final int[] order; // [batches]
  private final BucketBounds bounds;

  PlannedEpoch(
      int epoch, int[] lengths, int[] sequences, int[] starts, int[] order, BucketBounds bounds) {
    this.epoch = epoch;
    this.lengths = lengths;
    this.sequences = sequences;
    this.starts = starts;
    this.order = order;
    this.bounds = bounds;
  }

  /** The epoch, from 0. */
  public int epoch() {
    return epoch;
  }

  /** Number of jobs. */
  public int jobs() {
    return order.length;
  }

  /** Number of sequences in all jobs together. */
  public int sequences() {
    return sequences.length;
  }

  /** Number of sequences of job {@code index}. */
  public int size(int index) {
    int batch = order[index];
    return starts[batch + 1] - starts[batch];
  }

  /** The {@code k}-th sequence of job {@code index}. */
  public int sequence(int index, int k) {
    return sequences[starts[order[index]] + k];
  }

  /** Sum of the lengths of the sequences of job {@code index}. */
  public int tokens(int index) {
    int batch = order[index];
    int tokens = 0;
    for (int i = starts[batch]; i < starts[batch + 1]; i++) {
      tokens += lengths[sequences[i]];
    }
    return tokens;
  }

  /** Length bucket of job {@code index}. */
  public int bucket(int index) {
    return bounds.bucketOf(lengths[sequence(index, 0)]);
  }

  /** Job {@code index} as a record. */
  public Job job(int index) {
    long[] ids = new long[size(index)];
    for (int k = 0; k < ids.length; k++) {
      ids[k] = sequence(index, k);
    }
    return new Job(epoch, index, bucket(index), ids, tokens(index));
  }
}
