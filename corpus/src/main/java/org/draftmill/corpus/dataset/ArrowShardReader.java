package org.draftmill.corpus.dataset;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.draftmill.corpus.InputException;
import org.draftmill.corpus.TokenizedSequence;

/**
 * A memory-mapped shard, read at random by any number of threads.
 *
 * <p>Reads what {@link ArrowShardWriter} writes and what other tools export: Arrow IPC in its file
 * or stream form, {@code input_ids} as a list or large_list of whole numbers of 8 to 64 bits,
 * {@code loss_mask} the same or of booleans, other columns ignored. Compressed files are refused.
 */
public final class ArrowShardReader {
  private final MappedFile file;
  private final ArrowLayout layout;
  private final long rows;

  private ArrowShardReader(MappedFile file) {
    this.file = file;
    this.layout = ArrowLayout.of(file);
    List<ShardBatch> batches = layout.batches();
    ShardBatch last = batches.isEmpty() ? null : batches.get(batches.size() - 1);
    this.rows = last == null ? 0 : last.firstRow() + last.rows();
  }

  /**
   * Maps a file.
   *
   * @throws InputException if it is no readable Arrow file with the two columns
   */
  public static ArrowShardReader open(Path path) throws IOException {
    return new ArrowShardReader(new MappedFile(path));
  }

  /** Number of rows. */
  public long rows() {
    return rows;
  }

  /** Length in bytes. */
  public long bytes() {
    return file.length();
  }

  /** The file. */
  public Path path() {
    return file.path();
  }

  /** What its writer put into the footer; empty for the stream form. */
  public Map<String, String> metadata() {
    return Map.copyOf(layout.metadata());
  }

  /** Number of tokens of a row. */
  public int length(long row) {
    ShardBatch batch = batchOf(row);
    return length(batch.inputIds(), row - batch.firstRow(), row);
  }

  /**
   * A row, with every non-zero mask entry as one.
   *
   * @throws InputException if the row is damaged: its columns differ in length, or an id is
   *     negative or beyond 32 bits
   */
  public TokenizedSequence sequence(long row) {
    ShardBatch batch = batchOf(row);
    long within = row - batch.firstRow();
    int length = length(batch.inputIds(), within, row);
    int maskLength = length(batch.lossMask(), within, row);
    if (maskLength != length) {
      throw damaged(row, "has %d input_ids but %d loss_mask entries".formatted(length, maskLength));
    }
    int[] ids = ids(batch.inputIds(), batch.inputIds().start(file, within), length, row);
    byte[] mask = mask(batch.lossMask(), batch.lossMask().start(file, within), length);
    return new TokenizedSequence(ids, mask);
  }

  private int[] ids(ListColumn column, long start, int length, long row) {
    int[] ids = new int[length];
    if (column.valueBits() == 32) {
      file.ints(column.values() + 4 * start, ids);
    } else {
      for (int i = 0; i < length; i++) {
        long id = column.value(file, start + i);
        ids[i] = id == (int) id ? (int) id : -1;
      }
    }
    for (int i = 0; i < length; i++) {
      if (ids[i] < 0) {
        throw damaged(row, "has the token id %d".formatted(column.value(file, start + i)));
      }
    }
    return ids;
  }

  private byte[] mask(ListColumn column, long start, int length) {
    byte[] mask = new byte[length];
    if (column.valueBits() == 8) {
      file.bytes(column.values() + start, mask);
    } else {
      for (int i = 0; i < length; i++) {
        mask[i] = (byte) (column.value(file, start + i) == 0 ? 0 : 1);
      }
    }
    for (int i = 0; i < length; i++) {
      mask[i] = (byte) (mask[i] == 0 ? 0 : 1);
    }
    return mask;
  }

  private int length(ListColumn column, long within, long row) {
    long start = column.start(file, within);
    long end = column.start(file, within + 1);
    if (start < 0 || end < start || end > column.elements() || end - start > Integer.MAX_VALUE) {
      throw damaged(
          row, "claims the elements %d to %d of %d".formatted(start, end, column.elements()));
    }
    return (int) (end - start);
  }

  private ShardBatch batchOf(long row) {
    if (row < 0 || row >= rows) {
      throw new IndexOutOfBoundsException("row " + row + " of " + rows);
    }
    List<ShardBatch> batches = layout.batches();
    int low = 0;
    int high = batches.size() - 1;
    while (low < high) {
      int middle = (low + high + 1) >>> 1;
      if (batches.get(middle).firstRow() <= row) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return batches.get(low);
  }

  private InputException damaged(long row, String what) {
    return new InputException(
        "Row %d of the Arrow file %s %s; it is damaged or was written wrongly."
            .formatted(row, file.path(), what));
  }
}
