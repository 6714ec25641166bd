package org.draftmill.operators.drafter.state;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.draftmill.compute.InputException;
import org.draftmill.compute.drafter.DrafterState;
import org.draftmill.compute.drafter.DrafterStateFiles;
import org.draftmill.compute.io.AtomicFile;

/**
 * The drafters' states below {@code drafter/} of the run directory:
 *
 * <pre>
 * drafter/step-00000120/checkpoint-7.1a2b3c4d.0-of-2.safetensors
 *              step     kind and number | group | rank of size
 * </pre>
 *
 * All drafters of a group agree on these names without a word. Files are written with {@code
 * java.nio}: the run directory must be on a local disk, or on one that all TaskManagers mount.
 */
public final class StateFiles {
  private static final String DIRECTORY = "drafter";
  private static final Pattern STEP = Pattern.compile("step-\\d{8,}");
  private static final Pattern CHECKPOINT =
      Pattern.compile("\\.?checkpoint-(\\d+)\\.[0-9a-f]+\\.\\d+-of-\\d+\\.safetensors.*");

  private static final Pattern FLINK = Pattern.compile("chk-(\\d{1,18})");

  private final Path run;

  public StateFiles(Path run) {
    this.run = run;
  }

  /**
   * Which snapshot of which drafters.
   *
   * @param checkpoint its number
   * @param savepoint whether it belongs to the user: its files are never deleted
   * @param step that is open
   * @param group hexadecimal name of the drafters' group
   * @param size of the group
   */
  public record Snapshot(long checkpoint, boolean savepoint, long step, String group, int size) {}

  /** Directory name of a step. */
  public static String stepName(long step) {
    return String.format(Locale.ROOT, "step-%08d", step);
  }

  /** Path of a drafter's file, relative to the run directory. */
  public static String relative(Snapshot snapshot, int rank) {
    return String.format(
        Locale.ROOT,
        "%s/%s/%s-%d.%s.%d-of-%d.safetensors",
        DIRECTORY,
        stepName(snapshot.step()),
        snapshot.savepoint() ? "savepoint" : "checkpoint",
        snapshot.checkpoint(),
        snapshot.group(),
        rank,
        snapshot.size());
  }

  /** Writes one drafter's state; it appears whole or not at all. */
  public AtomicFile.Written write(Snapshot snapshot, DrafterState state) throws IOException {
    Path path = run.resolve(relative(snapshot, state.rank()));
    try {
      Files.createDirectories(path.getParent());
      return DrafterStateFiles.write(path, state);
    } catch (IOException e) {
      throw new IOException(
          "Could not write %s (about %d bytes; %s): %s"
              .formatted(path, state.bytes(), free(path), e.getMessage()),
          e);
    }
  }

  /** Files of all drafters of a snapshot. */
  public List<Path> all(Snapshot snapshot) {
    List<Path> paths = new ArrayList<>();
    for (int rank = 0; rank < snapshot.size(); rank++) {
      paths.add(run.resolve(relative(snapshot, rank)));
    }
    return paths;
  }

  /**
   * Finds the files that a checkpoint refers to.
   *
   * @param references of all drafters that took part, in any order
   * @throws InputException naming the file that is missing or of another length
   */
  public List<Path> resolve(List<SnapshotReference> references) throws IOException {
    List<SnapshotReference> byRank = new ArrayList<>(references);
    byRank.sort(Comparator.comparingInt(SnapshotReference::rank));
    List<Path> paths = new ArrayList<>();
    for (int rank = 0; rank < byRank.size(); rank++) {
      SnapshotReference reference = byRank.get(rank);
      if (reference.rank() != rank || reference.size() != byRank.size()) {
        throw new InputException(
            "The checkpoint refers to %d drafter files, but one of them is %d of %d: it is damaged."
                .formatted(byRank.size(), reference.rank(), reference.size()));
      }
      Path path = run.resolve(reference.path()).normalize();
      if (!path.startsWith(run.normalize())) {
        throw new InputException(
            "The checkpoint refers to " + reference.path() + " outside the run directory.");
      }
      if (!Files.isRegularFile(path)) {
        throw new InputException(
            "%s is missing, but the checkpoint needs it: resume in the run directory that the checkpoint was made in, or from another checkpoint."
                .formatted(path));
      }
      if (Files.size(path) != reference.bytes()) {
        throw new InputException(
            "%s has %d bytes where the checkpoint refers to %d: it is damaged; resume from another checkpoint."
                .formatted(path, Files.size(path), reference.bytes()));
      }
      paths.add(path);
    }
    return paths;
  }

  /** Reads a whole file and compares it with what the checkpoint says of it. */
  public void verify(SnapshotReference reference) throws IOException {
    Path path = run.resolve(reference.path());
    long found = AtomicFile.crc32c(path);
    if (found != reference.crc32c()) {
      throw new InputException(
          "%s has the checksum %08x where the checkpoint refers to %08x: it is damaged; resume from another checkpoint."
              .formatted(path, found, reference.crc32c()));
    }
  }

  /**
   * Deletes the files of all checkpoints before {@code oldest}, also such that were never
   * completed, but not of those that are still there: the cluster may retain more than the run asks
   * for, and a state that was set aside as damaged may be whole after all. Files of savepoints
   * stay.
   */
  public void deleteBefore(long oldest) throws IOException {
    Path directory = run.resolve(DIRECTORY);
    if (!Files.isDirectory(directory)) {
      return;
    }
    Set<Long> there = checkpointsThere();
    for (Path step : list(directory)) {
      if (!STEP.matcher(step.getFileName().toString()).matches()) {
        continue;
      }
      boolean empty = true;
      for (Path file : list(step)) {
        Matcher name = CHECKPOINT.matcher(file.getFileName().toString());
        long checkpoint = name.matches() ? Long.parseLong(name.group(1)) : oldest;
        if (checkpoint < oldest && !there.contains(checkpoint)) {
          Files.deleteIfExists(file);
        } else {
          empty = false;
        }
      }
      if (empty) {
        deleteEmpty(step);
      }
    }
  }

  /** Numbers of those below {@code checkpoints/} that have their metadata, by whatever name. */
  private Set<Long> checkpointsThere() throws IOException {
    Set<Long> numbers = new HashSet<>();
    Path checkpoints = run.resolve("checkpoints");
    if (!Files.isDirectory(checkpoints)) {
      return numbers; // Flink keeps them elsewhere
    }
    for (Path job : list(checkpoints)) {
      for (Path child : Files.isDirectory(job) ? list(job) : List.<Path>of()) {
        Matcher name = FLINK.matcher(child.getFileName().toString());
        if (name.matches() && holdsMetadata(child)) {
          numbers.add(Long.parseLong(name.group(1)));
        }
      }
    }
    return numbers;
  }

  private static boolean holdsMetadata(Path checkpoint) throws IOException {
    try {
      return list(checkpoint).stream()
          .anyMatch(file -> file.getFileName().toString().startsWith("_metadata"));
    } catch (NoSuchFileException e) {
      return false; // Flink has just deleted it
    }
  }

  /** Another drafter may just have put a file in, then the directory stays. */
  private static void deleteEmpty(Path directory) throws IOException {
    try {
      Files.deleteIfExists(directory);
    } catch (java.nio.file.DirectoryNotEmptyException e) {
      // it is needed
    }
  }

  private static List<Path> list(Path directory) throws IOException {
    List<Path> paths = new ArrayList<>();
    try (DirectoryStream<Path> stream = Files.newDirectoryStream(directory)) {
      stream.forEach(paths::add);
    }
    return paths;
  }

  private static String free(Path path) {
    try {
      return Files.getFileStore(path.getParent()).getUsableSpace() + " bytes are free";
    } catch (IOException e) {
      return "free space unknown";
    }
  }
}
