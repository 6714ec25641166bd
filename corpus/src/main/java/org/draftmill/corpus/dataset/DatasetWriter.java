package org.draftmill.corpus.dataset;

import java.io.BufferedOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.draftmill.corpus.InputException;
import org.draftmill.corpus.TokenizedSequence;

/**
 * Writes a dataset from one thread: the way without a cluster.
 *
 * <p>{@link #finish} makes it a dataset; closing without it leaves shards without a dataset.json.
 */
public final class DatasetWriter implements Closeable {
  /** Tokens after which a new shard is begun, about 250 MB. */
  public static final long SHARD_TOKENS = 50_000_000;

  private final Path directory;
  private final long shardTokens;
  private final List<Path> shards = new ArrayList<>();
  private OutputStream out;
  private ArrowShardWriter shard;

  /**
   * @throws InputException if the directory holds a dataset already
   */
  public DatasetWriter(Path directory) throws IOException {
    this(directory, SHARD_TOKENS);
  }

  /**
   * @param shardTokens tokens after which a new shard is begun
   */
  public DatasetWriter(Path directory, long shardTokens) throws IOException {
    DatasetAssembler.requireNone(directory);
    this.directory = Files.createDirectories(directory);
    this.shardTokens = shardTokens;
  }

  /** Appends a sequence; its id is the number of those written before. */
  public void write(TokenizedSequence sequence) throws IOException {
    if (shard != null && shard.stats().tokens() >= shardTokens) {
      finishShard();
    }
    if (shard == null) {
      Path path = directory.resolve(DatasetAssembler.fileName(shards.size()));
      shards.add(path);
      out = new BufferedOutputStream(Files.newOutputStream(path), 1 << 16);
      shard = new ArrowShardWriter(out, Map.of());
    }
    shard.write(sequence);
  }

  /**
   * Writes what is left and dataset.json.
   *
   * @throws InputException if nothing was written
   */
  public DatasetManifest finish(DatasetManifest.Origin origin, Map<String, Long> rejected)
      throws IOException {
    finishShard();
    return DatasetAssembler.assemble(directory, shards, origin, rejected);
  }

  private void finishShard() throws IOException {
    if (shard != null) {
      shard.finish();
      close();
    }
  }

  @Override
  public void close() throws IOException {
    if (shard != null) {
      shard.close();
      shard = null;
      out.close();
    }
  }
}
