package org.draftmill.corpus.dataset;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.draftmill.corpus.Fingerprint;
import org.draftmill.corpus.InputException;
import org.draftmill.corpus.TokenizedSequence;
import org.draftmill.corpus.io.ByteSources;
import org.draftmill.corpus.io.InputFile;
import org.draftmill.corpus.io.JsonFile;
import org.draftmill.corpus.plan.PlanInput;

/**
 * A dataset on the local file system, memory-mapped, read at random by any number of threads.
 *
 * <p>A sequence's id is its row, counted through the shards in the order of {@code dataset.json}.
 */
public final class Dataset {
  /** The file beside the shards. */
  public static final String FILE = "dataset.json";

  private final Path directory;
  private final DatasetManifest manifest;
  private final List<ArrowShardReader> shards;
  private final long[] firstIds; // [shards + 1]

  private Dataset(Path directory, DatasetManifest manifest, List<ArrowShardReader> shards) {
    this.directory = directory;
    this.manifest = manifest;
    this.shards = shards;
    this.firstIds = new long[shards.size() + 1];
    for (int i = 0; i < shards.size(); i++) {
      firstIds[i + 1] = firstIds[i] + shards.get(i).rows();
    }
  }

  /**
   * Opens a dataset; its rows are not read.
   *
   * @throws InputException if dataset.json or a shard cannot be understood, is missing or was
   *     replaced by one of another length
   */
  public static Dataset open(Path directory) throws IOException {
    InputFile.requireFolder(directory);
    Path file = directory.resolve(FILE);
    if (!InputFile.isNamed(file)) {
      throw new InputException(
          directory + " is no dataset: it holds no " + FILE + "; make one with prepare.");
    }
    DatasetManifest manifest =
        JsonFile.read(
            ByteSources.file(file),
            DatasetManifest.FORMAT,
            DatasetManifest.VERSION,
            DatasetManifest.class);
    List<ArrowShardReader> shards = new ArrayList<>();
    for (DatasetManifest.Shard shard : manifest.shards()) {
      Path path = directory.resolve(shard.file());
      if (!InputFile.isNamed(path)) {
        throw new InputException(
            "The shard " + path + " is missing, though " + FILE + " lists it.");
      }
      long bytes = ByteSources.file(path).length();
      if (bytes != shard.bytes()) {
        throw new InputException(
            "The shard %s has %d bytes where %s says %d; it was cut short or replaced."
                .formatted(path, bytes, FILE, shard.bytes()));
      }
      ArrowShardReader reader = ArrowShardReader.open(path);
      if (reader.rows() != shard.sequences()) {
        throw new InputException(
            "The shard %s has %d rows where %s says %d; it was replaced."
                .formatted(path, reader.rows(), FILE, shard.sequences()));
      }
      shards.add(reader);
    }
    return new Dataset(directory, manifest, shards);
  }

  /** What {@code dataset.json} says. */
  public DatasetManifest manifest() {
    return manifest;
  }

  /** Names the dataset by its content. */
  public Fingerprint fingerprint() {
    return new Fingerprint(manifest.fingerprint());
  }

  /** Where it lies. */
  public Path directory() {
    return directory;
  }

  /** Number of sequences. */
  public long size() {
    return firstIds[shards.size()];
  }

  /**
   * A sequence.
   *
   * @param id from 0 to {@code size() - 1}
   * @throws InputException if its row is damaged
   */
  public TokenizedSequence sequence(long id) {
    int shard = shardOf(id);
    return shards.get(shard).sequence(id - firstIds[shard]);
  }

  /** Number of tokens of a sequence. */
  public int length(long id) {
    int shard = shardOf(id);
    return shards.get(shard).length(id - firstIds[shard]);
  }

  /**
   * Number of tokens of every sequence, {@code [size]}; reads four bytes a sequence.
   *
   * @throws InputException if there are more than an array can hold
   */
  public int[] lengths() {
    if (size() > Integer.MAX_VALUE - 8) {
      throw new InputException(
          "The dataset %s has %d sequences; at most %d can be planned together, so split it."
              .formatted(directory, size(), Integer.MAX_VALUE - 8));
    }
    int[] lengths = new int[(int) size()];
    int id = 0;
    for (ArrowShardReader shard : shards) {
      for (long row = 0; row < shard.rows(); row++) {
        lengths[id++] = shard.length(row);
      }
    }
    return lengths;
  }

  /** What a plan must know of it. */
  public PlanInput planInput() {
    return new PlanInput(
        fingerprint(), lengths(), manifest.supervisedTokens(), id -> sequence(id).supervised());
  }

  /**
   * Reads everything and checks every checksum, row and total.
   *
   * @throws InputException naming the first shard or row that is wrong
   */
  public void verify() throws IOException {
    for (int i = 0; i < shards.size(); i++) {
      DatasetManifest.Shard expected = manifest.shards().get(i);
      DatasetManifest.Shard found =
          ShardScan.scan(shards.get(i)).shard(expected.file(), shards.get(i).bytes());
      if (!found.sha256().equals(expected.sha256())) {
        throw new InputException(
            "The shard %s is damaged or was replaced: its SHA-256 is %s where %s says %s. Put it back from a copy, or prepare the dataset again."
                .formatted(shards.get(i).path(), found.sha256(), FILE, expected.sha256()));
      }
      if (!found.equals(expected)) {
        throw new InputException(
            "The shard %s is not the one that %s lists: it holds %s where %s is listed."
                .formatted(shards.get(i).path(), FILE, found, expected));
      }
    }
  }

  private int shardOf(long id) {
    if (id < 0 || id >= size()) {
      throw new IndexOutOfBoundsException("sequence " + id + " of " + size());
    }
    int low = 0;
    int high = shards.size() - 1;
    while (low < high) {
      int middle = (low + high + 1) >>> 1;
      if (firstIds[middle] <= id) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low;
  }
}
