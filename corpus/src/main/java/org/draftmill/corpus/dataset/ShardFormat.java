package org.draftmill.corpus.dataset;

import java.util.List;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.apache.arrow.vector.types.pojo.Schema;

/**
 * How a shard is written: an Arrow IPC file without compression, two columns of equal lengths.
 *
 * <pre>
 * input_ids: list&lt;item: int32&gt;
 * loss_mask: list&lt;item: uint8&gt;     1 supervised, 0 not
 * </pre>
 *
 * <p>A record batch holds at most {@value #BATCH_ROWS} rows and, but for a single longer row, at
 * most {@value #BATCH_TOKENS} tokens. The footer's metadata holds the version of these rules and
 * what the writer was told to remember. Other layouts of the two columns are read too, see {@link
 * ArrowShardReader}.
 */
final class ShardFormat {
  static final String INPUT_IDS = "input_ids";
  static final String LOSS_MASK = "loss_mask";

  static final String VERSION_KEY = "draftmill.shard.version";
  static final int VERSION = 1;

  static final int BATCH_ROWS = 8192;
  static final int BATCH_TOKENS = 1 << 20;

  static final Schema SCHEMA =
      new Schema(
          List.of(
              list(INPUT_IDS, new ArrowType.Int(32, true)),
              list(LOSS_MASK, new ArrowType.Int(8, false))));

  private ShardFormat() {}

  private static Field list(String name, ArrowType item) {
    Field child = new Field("item", FieldType.nullable(item), null);
    return new Field(name, FieldType.nullable(new ArrowType.List()), List.of(child));
  }
}
