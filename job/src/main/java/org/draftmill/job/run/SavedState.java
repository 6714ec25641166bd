package org.draftmill.job.run;

import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.apache.flink.runtime.checkpoint.Checkpoints;
import org.apache.flink.runtime.checkpoint.metadata.CheckpointMetadata;
import org.draftmill.compute.InputException;
import org.draftmill.compute.io.Folders;
import org.draftmill.corpus.io.InputFile;
import org.draftmill.operators.drafter.state.MetadataChecksums;
import org.draftmill.operators.restart.Restarts;
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
  private static final String SET_ASIDE = METADATA + ".damaged";

  /**
   * What lies below {@code checkpoints/}.
   *
   * @param complete to resume from, the last one first
   * @param damaged those whose metadata cannot be read
   */
  public record Found(List<SavedState> complete, List<Path> damaged) {
    public Found {
      complete = List.copyOf(complete);
      damaged = List.copyOf(damaged);
    }
  }

  /** All that are complete, the last one first; one whose metadata cannot be read is left out. */
  public static List<SavedState> list(Path checkpoints) {
    return find(checkpoints).complete();
  }

  /**
   * All that are complete, and all that are not for their metadata cannot be read.
   *
   * @throws UncheckedIOException if the storage does not answer just now, which is no damage
   */
  public static Found find(Path checkpoints) {
    if (!Files.isDirectory(checkpoints)) {
      return new Found(List.of(), List.of());
    }
    List<SavedState> states = new ArrayList<>();
    List<Path> damaged = new ArrayList<>();
    MetadataChecksums checksums = new MetadataChecksums(checkpoints);
    // checkpoints/JOB/chk-N/_metadata and checkpoints/savepoint-…/_metadata
    for (Path child : directories(checkpoints)) {
      read(child, checksums, states, damaged);
      for (Path grandchild : directories(child)) {
        read(grandchild, checksums, states, damaged);
      }
    }
    states.sort(Comparator.comparingLong(SavedState::id).reversed());
    return new Found(states, damaged);
  }

  private static void read(
      Path path, MetadataChecksums checksums, List<SavedState> states, List<Path> damaged) {
    byte[] bytes;
    boolean matches;
    try {
      bytes = Files.readAllBytes(path.resolve(METADATA));
      matches = checksums.matches(path);
    } catch (NoSuchFileException e) {
      // No checkpoint, one that was never completed, or one that Flink deletes just now.
      return;
    } catch (IOException e) {
      if (Restarts.mayPass(e)) {
        throw new UncheckedIOException("Cannot read the metadata of the checkpoint " + path, e);
      }
      leaveOut(path, e, damaged);
      return;
    }
    try {
      if (!matches) {
        throw new IOException("its checksum is not the one that it was completed with");
      }
      CheckpointMetadata metadata =
          Checkpoints.loadCheckpointMetadata(
              new DataInputStream(new ByteArrayInputStream(bytes)),
              SavedState.class.getClassLoader(),
              FlinkAddress.of(path));
      states.add(new SavedState(path, metadata.getCheckpointId()));
    } catch (IOException | RuntimeException e) {
      leaveOut(path, e, damaged);
    }
  }

  /**
   * One that the user names.
   *
   * @param path of it, or of its metadata
   * @throws InputException if it is none, or not as it was completed
   */
  public static SavedState at(Path path, MetadataChecksums checksums) throws IOException {
    Path state = path.endsWith(METADATA) ? path.getParent() : path;
    InputFile.requireFolder(state);
    if (!Files.isRegularFile(state.resolve(METADATA))) {
      throw new InputException(
          "%s is no savepoint or checkpoint: there is no %s in it.".formatted(state, METADATA));
    }
    if (!checksums.matches(state)) {
      throw new InputException(
          "%s is damaged: the checksum of its %s is not the one that it was completed with. Resume from another one, or put it back from a copy."
              .formatted(state, METADATA));
    }
    return new SavedState(state, FlinkCheckpoint.read(state).id());
  }

  private static void leaveOut(Path path, Exception cause, List<Path> damaged) {
    LOG.warn("The checkpoint {} is left out, its metadata cannot be read", path, cause);
    damaged.add(path);
  }

  /** Those in a directory, which may just be deleted. */
  private static List<Path> directories(Path directory) {
    try (Stream<Path> children = Files.list(directory)) {
      return children.filter(Files::isDirectory).toList();
    } catch (NoSuchFileException e) {
      return List.of();
    } catch (IOException e) {
      throw new UncheckedIOException("Cannot look for checkpoints in " + directory, e);
    }
  }

  /** Whether it was asked for, and was not made by the clock. */
  public boolean isSavepoint() {
    return isSavepoint(path);
  }

  private static boolean isSavepoint(Path path) {
    return path.getFileName().toString().startsWith("savepoint-");
  }

  /** Takes a state that is damaged out of those that {@link #find} finds; what it holds stays. */
  public static void setAside(Path path) throws IOException {
    Files.move(
        path.resolve(METADATA), path.resolve(SET_ASIDE), StandardCopyOption.REPLACE_EXISTING);
  }

  /**
   * Deletes what lies below {@code checkpoints/} beside the {@code keep} last complete ones: older
   * ones that an earlier process of this run retained, and the remains of those that its death cut
   * short. With a savepoint of {@linkplain ClaimedSavepoints the run's own} go the files that the
   * drafters wrote for it; other savepoints are the user's and stay. So does what was {@linkplain
   * #setAside set aside}: it may be whole after all.
   */
  public static void prune(RunDirectory run, int keep) throws IOException {
    Found found = find(run.checkpoints());
    List<SavedState> states = found.complete();
    if (!states.isEmpty()) {
      List<Path> kept = new ArrayList<>(allSetAside(run.checkpoints()));
      found.damaged().stream().filter(SavedState::isSavepoint).forEach(kept::add);
      for (SavedState state : states) {
        boolean ofTheUser = state.isSavepoint() && !ClaimedSavepoints.isClaimed(run, state);
        if (ofTheUser || states.indexOf(state) < keep) {
          kept.add(state.path());
        }
      }
      deleteOthers(run.checkpoints(), kept);
    }
    ClaimedSavepoints.prune(run);
  }

  /** Whether a state is still there, be it set aside. */
  static boolean isThere(Path path) {
    return Files.exists(path.resolve(METADATA)) || Files.exists(path.resolve(SET_ASIDE));
  }

  private static List<Path> allSetAside(Path checkpoints) {
    return directories(checkpoints).stream()
        .flatMap(child -> Stream.concat(Stream.of(child), directories(child).stream()))
        .filter(path -> Files.exists(path.resolve(SET_ASIDE)))
        .toList();
  }

  private static void deleteOthers(Path checkpoints, List<Path> kept) throws IOException {
    try (Stream<Path> jobs = Files.list(checkpoints)) {
      for (Path job : jobs.filter(Files::isDirectory).toList()) {
        if (kept.contains(job)) {
          continue;
        }
        if (kept.stream().noneMatch(path -> path.startsWith(job))) {
          Folders.delete(job);
          continue;
        }
        try (Stream<Path> children = Files.list(job)) {
          for (Path child :
              children.filter(path -> path.getFileName().toString().startsWith("chk-")).toList()) {
            if (!kept.contains(child)) {
              Folders.delete(child);
            }
          }
        }
      }
    }
  }
}
