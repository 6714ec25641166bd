package org.draftmill.operators.pool;

import java.util.ArrayList;
import java.util.List;
import org.draftmill.serializers.HiddenDType;
import org.draftmill.serializers.HiddenStateChunk;
import org.draftmill.serializers.JobId;

/** Makes the chunks of a job whose rows hold its position. */
final class TestingChunks {

  static final int BUCKETS = 3;

  private TestingChunks() {}

  static JobId job(long position) {
    return new JobId(position, 0, (int) position, (int) (position % BUCKETS));
  }

  /** Chunks of {@code rows} rows of {@code columns} tap columns. */
  static List<HiddenStateChunk> of(long position, int chunks, int rows, int columns) {
    return of(job(position), chunks, rows, columns);
  }

  static List<HiddenStateChunk> of(JobId job, int chunks, int rows, int columns) {
    List<HiddenStateChunk> list = new ArrayList<>();
    for (int chunk = 0; chunk < chunks; chunk++) {
      var documents =
          chunk == 0
              ? List.of(new HiddenStateChunk.Document(job.position(), 0, chunks * rows))
              : List.<HiddenStateChunk.Document>of();
      var shape =
          new HiddenStateChunk.Shape(
              chunk, chunks, chunk * rows, rows, chunks * rows, columns, 0, HiddenDType.FLOAT32);
      HiddenStateChunk.Builder builder = HiddenStateChunk.builder(job, shape, documents);
      for (int row = 0; row < rows; row++) {
        builder.inputIds().putInt(row * Integer.BYTES, (int) job.position());
      }
      list.add(builder.build());
    }
    return list;
  }

  static List<HiddenStateChunk> of(long position) {
    return of(position, 1, 1, 1);
  }

  static List<HiddenStateChunk> tombstone(long position) {
    return List.of(HiddenStateChunk.tombstone(job(position), 1, "not finite"));
  }
}
