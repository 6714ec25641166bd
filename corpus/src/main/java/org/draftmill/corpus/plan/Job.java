package org.draftmill.corpus.plan;

import java.util.Arrays;
import java.util.Objects;

/**
 * One extraction job: a batch of sequences of similar length that the target reads at once.
 *
 * @param epoch the epoch it belongs to, from 0
 * @param index its place in the epoch's list, from 0
 * @param bucket the length bucket of its sequences, see {@link BucketBounds}
 * @param sequences ids of its sequences in the dataset; do not modify
 * @param tokens the sum of their lengths
 */
public record Job(int epoch, long index, int bucket, long[] sequences, int tokens) {
  public Job {
    Objects.requireNonNull(sequences);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Job that
        && epoch == that.epoch
        && index == that.index
        && bucket == that.bucket
        && tokens == that.tokens
        && Arrays.equals(sequences, that.sequences);
  }

  @Override
  public int hashCode() {
    return Objects.hash(epoch, index, bucket, tokens, Arrays.hashCode(sequences));
  }

  @Override
  public String toString() {
    return "Job[epoch %d, index %d, bucket %d, %d sequences, %d tokens]"
        .formatted(epoch, index, bucket, sequences.length, tokens);
  }
}
