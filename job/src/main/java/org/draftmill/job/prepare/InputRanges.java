package org.draftmill.job.prepare;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import org.apache.flink.connector.file.src.FileSourceSplit;
import org.apache.flink.connector.file.src.enumerate.FileEnumerator;
import org.apache.flink.core.fs.FileStatus;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.Path;

/**
 * Cuts the input files into ranges of bytes, numbered in input order. The cut depends on the input
 * alone, never on the parallelism: a range is what one subtask reads from end to end and writes as
 * one shard, so the dataset is the same whoever does which range.
 *
 * <p>Files stand in the order in which they are given; a directory stands for its files by name.
 * Compressed and Arrow files are one range each.
 */
public final class InputRanges implements FileEnumerator {
  private static final long MIN_RANGE_BYTES = 1 << 20;
  private static final long MAX_RANGE_BYTES = 64 << 20;
  private static final int AIM_RANGES = 64;

  /** How a file is read, by the end of its name. */
  enum Kind {
    LINES,
    GZIP_LINES,
    ARROW;

    static Kind of(Path path) {
      String name = path.getName().toLowerCase(Locale.ROOT);
      if (name.endsWith(".gz")) {
        return GZIP_LINES;
      }
      return name.endsWith(".arrow") || name.endsWith(".feather") || name.endsWith(".ipc")
          ? ARROW
          : LINES;
    }
  }

  @Override
  public Collection<FileSourceSplit> enumerateSplits(Path[] inputs, int minDesiredSplits)
      throws IOException {
    return ranges(List.of(inputs));
  }

  /** The ranges in input order; the id of each is its number. */
  public static List<FileSourceSplit> ranges(List<Path> inputs) throws IOException {
    List<FileStatus> files = new ArrayList<>();
    for (Path input : inputs) {
      FileSystem fileSystem = input.getFileSystem();
      addFiles(fileSystem, fileSystem.getFileStatus(input), files);
    }
    long total = files.stream().mapToLong(FileStatus::getLen).sum();
    long rangeBytes = Math.max(MIN_RANGE_BYTES, Math.min(MAX_RANGE_BYTES, total / AIM_RANGES));
    List<FileSourceSplit> ranges = new ArrayList<>();
    for (FileStatus file : files) {
      long step = Kind.of(file.getPath()) == Kind.LINES ? rangeBytes : Long.MAX_VALUE;
      for (long from = 0; from < file.getLen(); from += Math.min(step, file.getLen() - from)) {
        ranges.add(
            new FileSourceSplit(
                String.format(Locale.ROOT, "%08d", ranges.size()),
                file.getPath(),
                from,
                Math.min(step, file.getLen() - from),
                file.getModificationTime(),
                file.getLen()));
      }
    }
    return ranges;
  }

  /** The number of a range. */
  static int number(FileSourceSplit range) {
    return Integer.parseInt(range.splitId());
  }

  private static void addFiles(FileSystem fileSystem, FileStatus status, List<FileStatus> files)
      throws IOException {
    if (!status.isDir()) {
      files.add(status);
      return;
    }
    FileStatus[] children = fileSystem.listStatus(status.getPath());
    Arrays.sort(children, Comparator.comparing(child -> child.getPath().getName()));
    for (FileStatus child : children) {
      String name = child.getPath().getName();
      if (!InputTree.isLeftOut(name)) {
        addFiles(fileSystem, child, files);
      }
    }
  }
}
