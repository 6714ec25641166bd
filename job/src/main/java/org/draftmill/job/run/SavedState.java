package org.draftmill.job.run;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.apache.flink.runtime.checkpoint.Checkpoints;
import org.apache.flink.runtime.checkpoint.metadata.CheckpointMetadata;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A completed checkpoint or savepoint below a run's {@code checkpoints/}. Ids count on over
 * restarts, so the highest is the last one, whichever job of the run made it.
 *
 * @param path what Flink resumes from
 * @param id Flink's checkpoint id
 */
public record SavedState(Path path, long id) {
  private static final Logger LOG = LoggerFactory.getLogger(SavedState.class);
  private static final String METADATA = "_metadata";

  /** All that are complete, the last one first; one whose metadata cannot be read is left out. */
  public static List<SavedState> list(Path checkpoints) {
    if (!Files.isDirectory(checkpoints)) {
      return List.of();
    }
    List<SavedState> states = new ArrayList<>();
    // checkpoints/JOB/chk-N/_metadata and checkpoints/savepoint-…/_metadata
    try (Stream<Path> files =
        Files.find(checkpoints, 3, (path, attributes) -> path.endsWith(METADATA))) {
      for (Path file : (Iterable<Path>) files::iterator) {
        read(file, states);
      }
    } catch (IOException e) {
      throw new UncheckedIOException("Cannot look for checkpoints in " + checkpoints, e);
    }
    states.sort(Comparator.comparingLong(SavedState::id).reversed());
    return states;
  }

  private static void read(Path file, List<SavedState> states) {
    Path path = file.getParent();
    try (DataInputStream in = new DataInputStream(Files.newInputStream(file))) {
      CheckpointMetadata metadata =
          Checkpoints.loadCheckpointMetadata(
              in, SavedState.class.getClassLoader(), path.toUri().toString());
      states.add(new SavedState(path, metadata.getCheckpointId()));
    } catch (IOException | RuntimeException e) {
      LOG.warn("The checkpoint {} is left out, its metadata cannot be read", path, e);
    }
  }

  /**
   * Deletes what lies below {@code checkpoints/} beside the {@code keep} last complete ones: older
   * ones that an earlier process of this run retained, and the remains of those that its death cut
   * short.
   */
  public static void prune(Path checkpoints, int keep) throws IOException {
    List<SavedState> states = list(checkpoints);
    if (states.isEmpty()) {
      return;
    }
    List<Path> kept = states.stream().limit(keep).map(SavedState::path).toList();
    try (Stream<Path> jobs = Files.list(checkpoints)) {
      for (Path job : jobs.filter(Files::isDirectory).toList()) {
        if (kept.contains(job)) {
          continue;
        }
        if (kept.stream().noneMatch(path -> path.startsWith(job))) {
          deleteTree(job);
          continue;
        }
        try (Stream<Path> children = Files.list(job)) {
          for (Path child :
              children.filter(path -> path.getFileName().toString().startsWith("chk-")).toList()) {
            if (!kept.contains(child)) {
              deleteTree(child);
            }
          }
        }
      }
    }
  }

  private static void deleteTree(Path root) throws IOException {
    List<Path> paths;
    try (Stream<Path> tree = Files.walk(root)) {
      paths = tree.sorted(Comparator.reverseOrder()).toList();
    }
    for (Path path : paths) {
      Files.delete(path);
    }
  }
}
