package org.draftmill.operators.target;

import java.util.List;
import java.util.Optional;
import org.draftmill.operators.jobs.ExtractionJob;
import org.draftmill.serializers.HiddenStateChunk;

/**
 * What became of a job.
 *
 * @param chunks its hidden states, or its tombstone
 * @param deadLetter why there is a tombstone
 */
record JobResult(
    ExtractionJob job, List<HiddenStateChunk> chunks, Optional<DeadLetter> deadLetter) {
  static JobResult of(ExtractionJob job, List<HiddenStateChunk> chunks) {
    return new JobResult(job, chunks, Optional.empty());
  }

  static JobResult dead(PackedBatch batch, int attempts, String reason) {
    ExtractionJob job = batch.job();
    HiddenStateChunk tombstone = HiddenStateChunk.tombstone(job.id(), batch.rows(), reason);
    DeadLetter letter = DeadLetter.of(job, attempts, reason);
    return new JobResult(job, List.of(tombstone), Optional.of(letter));
  }
}
