package org.draftmill.operators.drafter;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.JobID;
import org.apache.flink.runtime.state.CheckpointStorageLocationReference;
import org.apache.flink.runtime.state.filesystem.AbstractFsCheckpointStorageAccess;
import org.draftmill.compute.drafter.DrafterExport;
import org.draftmill.compute.drafter.DrafterStateFiles;
import org.draftmill.operators.drafter.state.Exports;
import org.draftmill.operators.drafter.state.MetadataChecksums;
import org.draftmill.operators.drafter.state.Retention;
import org.draftmill.operators.drafter.state.StateFiles;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Publishes the drafters of completed checkpoints and deletes states that no checkpoint needs any
 * more, on a thread of its own; the drafter of rank 0 has one. Trouble with it is a warning: the
 * checkpoint stands, and the next one publishes again. Only the final weights must be published.
 */
final class Publisher {
  private static final Logger LOG = LoggerFactory.getLogger(Publisher.class);
  private static final long LONGEST_CLOSE_SECONDS = 600;
  private static final long LONGEST_ABORT_SECONDS = 60; // its thread is interrupted

  private final StateFiles files;
  private final Exports exports;
  private final Retention retention;
  private final Path checkpoints;
  private final MetadataChecksums checksums;
  private final JobID job;
  private final ExecutorService thread;
  private final Map<Long, Taken> taken = new TreeMap<>(); // not yet completed
  private long published = -1; // the last step

  /**
   * @param job whose checkpoints they are
   */
  Publisher(String name, StateFiles files, DrafterSettings settings, JobID job) throws IOException {
    this.files = files;
    exports = new Exports(settings.directory(), settings.keepExports());
    retention = new Retention(settings.run().checkpointsKept());
    checkpoints = settings.directory().resolve("checkpoints");
    checksums = new MetadataChecksums(checkpoints);
    this.job = job;
    exports.clean();
    thread =
        Executors.newSingleThreadExecutor(
            work -> {
              Thread made = new Thread(work, "draftmill " + name + " publisher");
              made.setDaemon(true);
              return made;
            });
  }

  /**
   * @param flink where Flink's part lies, if on a file system of this host
   */
  private record Taken(StateFiles.Snapshot snapshot, Optional<Path> flink) {}

  /**
   * A snapshot was taken; whether its checkpoint will complete is open.
   *
   * @param location where it was asked for, if it is a savepoint
   */
  void taken(StateFiles.Snapshot snapshot, CheckpointStorageLocationReference location) {
    Optional<Path> flink =
        snapshot.savepoint()
            ? onThisHost(location)
            : Optional.of(
                checkpoints.resolve(job.toString()).resolve("chk-" + snapshot.checkpoint()));
    taken.put(snapshot.checkpoint(), new Taken(snapshot, flink));
  }

  private static Optional<Path> onThisHost(CheckpointStorageLocationReference location) {
    try {
      URI path = AbstractFsCheckpointStorageAccess.decodePathFromReference(location).toUri();
      return path.getScheme() == null || path.getScheme().equals("file")
          ? Optional.of(Path.of(path.getPath()))
          : Optional.empty();
    } catch (IllegalArgumentException noPath) {
      return Optional.empty();
    }
  }

  /** A checkpoint completed. Of several that wait, only the newest is published. */
  void completed(long checkpoint) {
    Taken completed = taken.remove(checkpoint);
    Iterator<Long> older = taken.keySet().iterator();
    while (older.hasNext() && older.next() < checkpoint) {
      older.remove(); // of a checkpoint that was given up
    }
    if (completed == null) {
      return;
    }
    StateFiles.Snapshot snapshot = completed.snapshot();
    OptionalLong oldest =
        snapshot.savepoint() ? OptionalLong.empty() : retention.completed(checkpoint);
    thread.execute(
        () -> {
          completed.flink().ifPresent(this::remember);
          publish(snapshot);
          oldest.ifPresent(this::delete);
        });
  }

  /** Publishes the drafter as it stands, before this returns. */
  synchronized void publishNow(DrafterDevice device) throws IOException {
    exports.publish(device.step(), device::export);
    published = device.step();
  }

  private synchronized void publish(StateFiles.Snapshot snapshot) {
    if (snapshot.step() <= published) {
      return;
    }
    try (DrafterStateFiles states = DrafterStateFiles.open(files.all(snapshot))) {
      exports.publish(
          snapshot.step(),
          directory -> DrafterExport.write(directory, states.config(), states.weights()));
      published = snapshot.step();
    } catch (IOException | RuntimeException e) {
      LOG.warn("The drafter of step {} was not published.", snapshot.step(), e);
    }
  }

  /** So that damage to Flink's own file is found before a run goes on from it. */
  private void remember(Path state) {
    try {
      checksums.record(state);
    } catch (IOException e) {
      LOG.warn("Could not note the checksum of {}.", state, e);
    }
  }

  private void delete(long oldest) {
    try {
      files.deleteBefore(oldest);
    } catch (IOException e) {
      LOG.warn("Could not delete the states of checkpoints before {}.", oldest, e);
    }
  }

  /**
   * @param orderly whether what waits is still published; else it is dropped
   */
  void close(boolean orderly) throws InterruptedException {
    if (orderly) {
      thread.shutdown();
      thread.awaitTermination(LONGEST_CLOSE_SECONDS, TimeUnit.SECONDS);
    } else {
      thread.shutdownNow();
      // The next attempt clears away what is half written: nothing must be written after that.
      thread.awaitTermination(LONGEST_ABORT_SECONDS, TimeUnit.SECONDS);
    }
  }
}
