package org.draftmill.benchmarks;

import java.util.List;
import org.draftmill.serializers.HiddenDType;
import org.draftmill.serializers.HiddenStateChunk;
import org.draftmill.serializers.HiddenStateChunkFormat;
import org.draftmill.serializers.JobId;

/** Chunks of hidden states of a size. */
final class Chunks {
  /** Of the largest chunk that stages exchange by default. */
  static final int DEFAULT_BYTES = 4 << 20;

  private static final int TAP_COLUMNS = 5 * 1024;

  private Chunks() {}

  /**
   * A chunk of a microbatch whose chunks are all as large as {@code bytes} permits.
   *
   * @param position of the job
   * @param chunk its number
   * @param chunks of the job
   */
  static HiddenStateChunk of(long position, int chunk, int chunks, int bytes) {
    int rows = HiddenStateChunkFormat.rowsThatFit(bytes, TAP_COLUMNS, 0, HiddenDType.BFLOAT16);
    JobId job = new JobId(position, 0, Math.toIntExact(position), 0);
    var shape =
        new HiddenStateChunk.Shape(
            chunk, chunks, chunk * rows, rows, chunks * rows, TAP_COLUMNS, 0, HiddenDType.BFLOAT16);
    List<HiddenStateChunk.Document> documents =
        chunk == 0 ? List.of(new HiddenStateChunk.Document(position, 0, chunks * rows)) : List.of();
    return HiddenStateChunk.builder(job, shape, documents).build();
  }
}
