package org.draftmill.operators.pool;

import java.util.ArrayList;
import java.util.List;
import org.draftmill.serializers.HiddenStateChunk;
import org.draftmill.serializers.JobId;

/** A job's microbatch in the pool, as the chunks of it that have arrived. */
final class HeldMicrobatch {
  private final JobId job;
  private final int chunksOfJob;
  private final List<HiddenStateChunk> chunks;
  private long bytes;

  /** Begins with the first chunk. */
  HeldMicrobatch(HiddenStateChunk first) {
    job = first.job();
    chunksOfJob = first.chunks();
    chunks = new ArrayList<>(chunksOfJob);
    add(first);
  }

  /** A whole one. */
  HeldMicrobatch(List<HiddenStateChunk> all) {
    this(all.get(0));
    all.subList(1, all.size()).forEach(this::add);
  }

  void add(HiddenStateChunk chunk) {
    if (chunk.chunk() != chunks.size() || chunk.chunks() != chunksOfJob) {
      throw new IllegalStateException(
          "After %d of %d chunks of %s came %s.".formatted(chunks.size(), chunksOfJob, job, chunk));
    }
    chunks.add(chunk);
    bytes += chunk.sizeInBytes();
  }

  JobId job() {
    return job;
  }

  boolean isWhole() {
    return chunks.size() == chunksOfJob;
  }

  boolean isTombstone() {
    return chunks.get(0).isTombstone();
  }

  /** In the order of their rows. */
  List<HiddenStateChunk> chunks() {
    return chunks;
  }

  long bytes() {
    return bytes;
  }
}
