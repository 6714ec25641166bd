package org.draftmill.corpus.dataset;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.draftmill.corpus.InputException;
import org.draftmill.corpus.io.InputFile;
import org.draftmill.corpus.io.JsonFile;

/** Makes a dataset of finished shards: names them in order, scans them, writes dataset.json. */
public final class DatasetAssembler {
  private DatasetAssembler() {}

  /** Name of a shard. */
  public static String fileName(int shard) {
    return String.format(Locale.ROOT, "data-%05d.arrow", shard);
  }

  /**
   * Moves the shards into {@code directory} under their final names and writes {@code
   * dataset.json}, last and at once, so a directory that holds it is whole.
   *
   * @param shards files on the same file system, in the order in which sequences are to be
   *     numbered; those without rows are deleted
   * @param rejected number of rejected rows by reason
   * @throws InputException if the directory holds a dataset already, a shard is damaged, or no
   *     sequence is left
   */
  public static DatasetManifest assemble(
      Path directory, List<Path> shards, DatasetManifest.Origin origin, Map<String, Long> rejected)
      throws IOException {
    requireNone(directory);
    Files.createDirectories(directory);
    List<DatasetManifest.Shard> listed = new ArrayList<>();
    for (int i = 0; i < shards.size(); i++) {
      Path shard = shards.get(i);
      ArrowShardReader reader = ArrowShardReader.open(shard);
      if (reader.rows() == 0) {
        Files.delete(shard);
        continue;
      }
      String name = fileName(listed.size());
      listed.add(ShardScan.scan(reader).shard(name, reader.bytes()));
      Path target = directory.resolve(name);
      if (shards.subList(i + 1, shards.size()).contains(target)) {
        throw new IllegalArgumentException(
            shard + " would be renamed over " + target + ", which is still to come");
      }
      Files.move(shard, target, StandardCopyOption.REPLACE_EXISTING);
    }
    if (listed.isEmpty()) {
      throw new InputException(
          rejected.isEmpty()
              ? "There is nothing to train on: the input has no rows."
              : "Nothing is left to train on: every row was rejected, by reason: "
                  + rejected
                  + "; rejects.jsonl says what was found.");
    }
    DatasetManifest manifest = DatasetManifest.of(origin, listed, rejected);
    Path unfinished = directory.resolve(Dataset.FILE + ".tmp");
    Files.write(
        unfinished, JsonFile.encode(DatasetManifest.FORMAT, DatasetManifest.VERSION, manifest));
    Files.move(unfinished, directory.resolve(Dataset.FILE), StandardCopyOption.ATOMIC_MOVE);
    return manifest;
  }

  /**
   * Checks that a directory can take a new dataset.
   *
   * @throws InputException if it holds one, or is a file
   */
  public static void requireNone(Path directory) {
    if (Files.exists(directory) && !Files.isDirectory(directory)) {
      throw new InputException(
          "The dataset is to go into a directory, but "
              + directory
              + " is a file; give another path.");
    }
    if (InputFile.isNamed(directory.resolve(Dataset.FILE))) {
      throw new InputException(
          directory + " holds a dataset already; give another directory or remove it.");
    }
  }
}
