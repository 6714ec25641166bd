package org.draftmill.operators.drafter.state;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/**
 * A reference to a file that is still being written. It is put into Flink's state at once; the
 * state is serialized by a thread of its own, which waits here. So a checkpoint completes when the
 * file is whole, fails when it cannot be written, and training goes on meanwhile.
 */
public final class PendingReference {
  private final CompletableFuture<SnapshotReference> reference;

  public PendingReference(CompletableFuture<SnapshotReference> reference) {
    this.reference = reference;
  }

  /** Waits until the file is whole. */
  public SnapshotReference get() throws IOException {
    try {
      return reference.get();
    } catch (ExecutionException e) {
      throw new IOException("The drafter's state could not be written: " + e.getCause(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("Interrupted while the drafter's state was written.", e);
    } catch (java.util.concurrent.CancellationException e) {
      throw new IOException("The checkpoint was aborted while the drafter's state was written.", e);
    }
  }
}
