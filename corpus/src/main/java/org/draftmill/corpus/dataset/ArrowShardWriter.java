package org.draftmill.corpus.dataset;

import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.util.Map;
import java.util.TreeMap;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.UInt1Vector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.complex.ListVector;
import org.apache.arrow.vector.ipc.ArrowFileWriter;
import org.draftmill.corpus.TokenizedSequence;

/**
 * Writes a shard to a stream, batch by batch; see {@link ShardFormat} for what is written.
 *
 * <p>{@link #finish} writes the rest and the footer and leaves the stream open, as a bulk writer
 * must; {@link #close} frees the buffers and does not touch the stream. Holds one batch in memory,
 * at most about 6 MB besides a single very long row. The same rows give the same bytes. Not
 * thread-safe.
 */
public final class ArrowShardWriter implements Closeable {
  private final BufferAllocator allocator;
  private final VectorSchemaRoot root;
  private final ListVector inputIds;
  private final ListVector lossMask;
  private final ArrowFileWriter writer;
  private int batchRows;
  private int batchTokens;
  private ShardStats stats = ShardStats.NONE;
  private boolean finished;
  private boolean closed;

  /**
   * @param metadata remembered in the shard's footer, read again by {@link ArrowShardReader}
   */
  public ArrowShardWriter(OutputStream out, Map<String, String> metadata) throws IOException {
    allocator = new RootAllocator();
    root = VectorSchemaRoot.create(ShardFormat.SCHEMA, allocator);
    inputIds = (ListVector) root.getVector(ShardFormat.INPUT_IDS);
    lossMask = (ListVector) root.getVector(ShardFormat.LOSS_MASK);
    Map<String, String> footer = new TreeMap<>(metadata);
    footer.put(ShardFormat.VERSION_KEY, String.valueOf(ShardFormat.VERSION));
    writer = new ArrowFileWriter(root, null, Channels.newChannel(out), footer);
    try {
      writer.start();
    } catch (IOException | RuntimeException e) {
      close();
      throw e;
    }
  }

  /** Appends a row. */
  public void write(TokenizedSequence sequence) throws IOException {
    if (finished) {
      throw new IllegalStateException("the shard is finished");
    }
    int length = sequence.length();
    if (batchRows > 0
        && (batchRows == ShardFormat.BATCH_ROWS
            || batchTokens + (long) length > ShardFormat.BATCH_TOKENS)) {
      flush();
    }
    IntVector ids = (IntVector) inputIds.getDataVector();
    UInt1Vector mask = (UInt1Vector) lossMask.getDataVector();
    int from = inputIds.startNewValue(batchRows);
    lossMask.startNewValue(batchRows);
    for (int i = 0; i < length; i++) {
      ids.setSafe(from + i, sequence.inputIds()[i]);
      mask.setSafe(from + i, sequence.lossMask()[i]);
    }
    inputIds.endValue(batchRows, length);
    lossMask.endValue(batchRows, length);
    batchRows++;
    batchTokens += length;
    stats = stats.plus(sequence);
  }

  /** What was written so far. */
  public ShardStats stats() {
    return stats;
  }

  /** Writes the last batch and the footer. */
  public ShardStats finish() throws IOException {
    if (!finished) {
      if (batchRows > 0) {
        flush();
      }
      writer.end();
      finished = true;
    }
    return stats;
  }

  private void flush() throws IOException {
    root.setRowCount(batchRows);
    writer.writeBatch();
    inputIds.reset();
    lossMask.reset();
    batchRows = 0;
    batchTokens = 0;
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      root.close();
      allocator.close();
    }
  }
}
