package org.draftmill.job.prepare;

import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.flink.connector.file.src.FileSourceSplit;
import org.draftmill.compute.io.Folders;
import org.draftmill.corpus.dataset.ArrowShardReader;
import org.draftmill.corpus.dataset.DatasetAssembler;
import org.draftmill.corpus.dataset.DatasetManifest;

/**
 * Makes a dataset of what the subtasks of the prepare job wrote: shards in the order of their
 * ranges, one file of rejected rows with their lines, {@code dataset.json} at last.
 */
final class DatasetFinisher {
  /** The rejected rows, beside the shards. */
  static final String REJECTS = "rejects.jsonl";

  private final PrepareSettings settings;
  private final List<FileSourceSplit> ranges;

  DatasetFinisher(PrepareSettings settings, List<FileSourceSplit> ranges) {
    this.settings = settings;
    this.ranges = ranges;
  }

  DatasetManifest finish(DatasetManifest.Origin origin) throws IOException {
    Map<Integer, Path> shards = new TreeMap<>();
    for (Path file : files(settings.shards())) {
      String range = ArrowShardReader.open(file).metadata().get(ShardFiles.RANGE);
      shards.put(Integer.parseInt(range), file);
    }
    Map<String, Long> rejected = new TreeMap<>();
    mergeRejects(rejected);
    DatasetManifest manifest =
        DatasetAssembler.assemble(
            settings.out(), new ArrayList<>(shards.values()), origin, rejected);
    Folders.delete(settings.work());
    return manifest;
  }

  /** Copies the rejects in input order, with lines counted through the ranges of each file. */
  private void mergeRejects(Map<String, Long> counts) throws IOException {
    Map<Integer, Path> parts = new TreeMap<>();
    for (Path file : files(settings.rejects())) {
      try (BufferedReader reader = Files.newBufferedReader(file)) {
        parts.put(RejectsFormat.decode(reader.readLine()).range(), file);
      }
    }
    if (parts.size() != ranges.size()) {
      throw new IllegalStateException(
          "the job wrote the ends of %d ranges, but the input has %d"
              .formatted(parts.size(), ranges.size()));
    }
    Path merged = settings.work().resolve(REJECTS);
    try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(merged))) {
      String file = "";
      long linesBefore = 0;
      for (FileSourceSplit range : ranges) {
        String path = range.path().getPath();
        linesBefore = path.equals(file) && range.offset() > 0 ? linesBefore : 0;
        file = path;
        linesBefore += copy(parts.get(InputRanges.number(range)), file, linesBefore, counts, out);
      }
    }
    if (!counts.isEmpty()) {
      Files.move(merged, settings.out().resolve(REJECTS), StandardCopyOption.REPLACE_EXISTING);
    }
  }

  /** Returns how many rows the range has. */
  private static long copy(
      Path part, String file, long linesBefore, Map<String, Long> counts, OutputStream out)
      throws IOException {
    try (BufferedReader reader = Files.newBufferedReader(part)) {
      String line;
      while ((line = reader.readLine()) != null) {
        RejectedRow row = RejectsFormat.decode(line);
        if (row.reason() == null) {
          return row.number();
        }
        RejectsFormat.writeFinal(row, file, linesBefore + row.number() + 1, out);
        counts.merge(row.reason(), 1L, Long::sum);
      }
    }
    throw new IllegalStateException(part + " has no end: the job did not finish its range");
  }

  private static List<Path> files(Path directory) throws IOException {
    if (!Files.isDirectory(directory)) {
      return List.of();
    }
    try (Stream<Path> files = Files.list(directory)) {
      return files.filter(file -> !file.getFileName().toString().startsWith(".")).toList();
    }
  }
}
