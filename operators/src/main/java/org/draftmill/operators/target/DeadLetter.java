package org.draftmill.operators.target;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.UncheckedIOException;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.util.OutputTag;
import org.draftmill.operators.jobs.ExtractionJob;

/**
 * A job that was given up. A tombstone takes its place in the stream.
 *
 * @param position of the job in the run
 * @param epoch from 0
 * @param index in the epoch's list
 * @param bucket length bucket
 * @param sequences ids of its sequences
 * @param attempts forward passes that were tried
 * @param reason why the last one was of no use
 */
public record DeadLetter(
    long position,
    int epoch,
    int index,
    int bucket,
    long[] sequences,
    int attempts,
    String reason) {
  /** The side output of the target. */
  public static final OutputTag<DeadLetter> OUTPUT =
      new OutputTag<>("dead-letters", TypeInformation.of(DeadLetter.class));

  private static final ObjectMapper JSON = new ObjectMapper();

  static DeadLetter of(ExtractionJob job, int attempts, String reason) {
    return new DeadLetter(
        job.position(),
        job.epoch(),
        job.index(),
        job.bucket(),
        job.sequenceIds(),
        attempts,
        reason);
  }

  /** One line for the files below {@code dead-letter/}. */
  public String toJson() {
    try {
      return JSON.writeValueAsString(this);
    } catch (JsonProcessingException e) {
      throw new UncheckedIOException(e);
    }
  }
}
