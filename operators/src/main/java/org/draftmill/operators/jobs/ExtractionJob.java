package org.draftmill.operators.jobs;

import java.util.Arrays;
import java.util.Objects;
import org.apache.flink.api.connector.source.SourceSplit;
import org.draftmill.serializers.JobId;

/**
 * One job of the run: a batch of sequences that a target reads at once. It is the split of the
 * {@link JobSource} and the record that it emits.
 *
 * @param position jobs before it, counted from the start of the run
 * @param epoch pass over the dataset, from 0
 * @param index jobs before it in its epoch's list
 * @param bucket length bucket of its sequences, from 0
 * @param sequenceIds of the dataset, in the order in which they are packed; do not modify
 * @param tokens sum of their lengths
 */
public record ExtractionJob(
    long position, int epoch, int index, int bucket, long[] sequenceIds, int tokens)
    implements SourceSplit {
  public ExtractionJob {
    Objects.requireNonNull(sequenceIds);
  }

  /** How records further down the stream call it. */
  public JobId id() {
    return new JobId(position, epoch, index, bucket);
  }

  /**
   * The same for all: Flink keeps metrics, an output and a clock for each id that a reader has
   * seen, for as long as the reader lives, and a run may have ten million jobs.
   */
  @Override
  public String splitId() {
    return "job";
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof ExtractionJob that
        && position == that.position
        && epoch == that.epoch
        && index == that.index
        && bucket == that.bucket
        && tokens == that.tokens
        && Arrays.equals(sequenceIds, that.sequenceIds);
  }

  @Override
  public int hashCode() {
    return Objects.hash(position, epoch, index, bucket, tokens, Arrays.hashCode(sequenceIds));
  }

  @Override
  public String toString() {
    return "job %d (epoch %d, index %d, bucket %d, %d sequences, %d tokens)"
        .formatted(position, epoch, index, bucket, sequenceIds.length, tokens);
  }
}
