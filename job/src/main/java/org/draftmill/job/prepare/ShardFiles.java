package org.draftmill.job.prepare;

import java.io.IOException;
import java.util.Map;
import org.apache.flink.api.common.serialization.BulkWriter;
import org.apache.flink.core.fs.FSDataOutputStream;
import org.draftmill.corpus.dataset.ArrowShardWriter;

/** Writes the sequences of a range as an Arrow shard that knows its range. */
final class ShardFiles implements BulkWriter.Factory<PreparedRow> {
  /** Key in the shard's footer. */
  static final String RANGE = "draftmill.range";

  @Override
  public BulkWriter<PreparedRow> create(FSDataOutputStream out) {
    return new BulkWriter<>() {
      private ArrowShardWriter shard;

      @Override
      public void addElement(PreparedRow row) throws IOException {
        if (shard == null) {
          shard = new ArrowShardWriter(out, Map.of(RANGE, Integer.toString(row.range())));
        }
        shard.write(row.sequence());
      }

      /** The Arrow writer decides when a batch is full: the bytes must not depend on timing. */
      @Override
      public void flush() {}

      @Override
      public void finish() throws IOException {
        try (ArrowShardWriter finished = shard) {
          finished.finish();
        }
      }
    };
  }
}
