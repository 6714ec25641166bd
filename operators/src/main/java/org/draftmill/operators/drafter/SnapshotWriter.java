package org.draftmill.operators.drafter;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.draftmill.compute.drafter.DrafterState;
import org.draftmill.compute.io.AtomicFile;
import org.draftmill.operators.drafter.state.PendingReference;
import org.draftmill.operators.drafter.state.RunIdentity;
import org.draftmill.operators.drafter.state.SnapshotReference;
import org.draftmill.operators.drafter.state.StateFiles;
import org.draftmill.serializers.StepMarker;

/** Writes a drafter's states on a thread of its own, one after the other. */
final class SnapshotWriter {
  private static final long LONGEST_CLOSE_SECONDS = 30;

  private final StateFiles files;
  private final ExecutorService thread;
  private final Map<Long, CompletableFuture<SnapshotReference>> open = new ConcurrentHashMap<>();

  SnapshotWriter(String name, StateFiles files) {
    this.files = files;
    thread =
        Executors.newSingleThreadExecutor(
            work -> {
              Thread made = new Thread(work, "draftmill " + name + " state writer");
              made.setDaemon(true);
              return made;
            });
  }

  /** Begins to write a state that nobody changes any more. */
  PendingReference write(
      StateFiles.Snapshot snapshot,
      DrafterState drafter,
      long skipped,
      List<StepMarker> markers,
      RunIdentity identity) {
    CompletableFuture<SnapshotReference> reference = new CompletableFuture<>();
    open.put(snapshot.checkpoint(), reference);
    thread.execute(
        () -> {
          if (reference.isDone()) {
            return; // the checkpoint was aborted meanwhile
          }
          try {
            AtomicFile.Written written = files.write(snapshot, drafter);
            reference.complete(
                new SnapshotReference(
                    StateFiles.relative(snapshot, drafter.rank()),
                    written.bytes(),
                    written.crc32c(),
                    drafter.rank(),
                    snapshot.size(),
                    snapshot.step(),
                    skipped,
                    markers,
                    identity));
          } catch (Throwable e) {
            reference.completeExceptionally(e);
          }
        });
    return new PendingReference(reference);
  }

  /** The checkpoint was completed or aborted: if its file is not begun, it is not needed. */
  void settled(long checkpoint) {
    CompletableFuture<SnapshotReference> reference = open.remove(checkpoint);
    if (reference != null) {
      reference.cancel(false);
    }
  }

  /** Gives up what is not begun and waits for the rest. */
  void close() throws InterruptedException {
    open.values().forEach(reference -> reference.cancel(false));
    thread.shutdown();
    thread.awaitTermination(LONGEST_CLOSE_SECONDS, TimeUnit.SECONDS);
  }
}
