package org.draftmill.job.train;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.api.common.JobID;
import org.draftmill.job.console.Console;
import org.draftmill.job.console.Interrupts;
import org.draftmill.job.embedded.EmbeddedCluster;
import org.draftmill.job.run.ClaimedSavepoints;
import org.draftmill.job.run.FlinkAddress;
import org.draftmill.job.run.RunDirectory;
import org.draftmill.job.run.SavedState;
import org.draftmill.job.run.UnfinishedSavepoint;

/** Stops a job at a savepoint when the process is told to end, from its making to its closing. */
final class StopOnSignal implements AutoCloseable {
  private static final Duration LONGEST_SAVEPOINT = Duration.ofMinutes(10);

  private final Console console;
  private final EmbeddedCluster cluster;
  private final JobID job;
  private final RunDirectory run;
  private final Interrupts interrupts;
  private final CompletableFuture<String> outcome = new CompletableFuture<>();
  private volatile boolean asked;

  StopOnSignal(Console console, EmbeddedCluster cluster, JobID job, RunDirectory run) {
    this.console = console;
    this.cluster = cluster;
    this.job = job;
    this.run = run;
    interrupts = Interrupts.handle(this::stop, () -> clear(UnfinishedSavepoint::discard));
  }

  /**
   * What to say at the end, once a signal came. Waits until everything is done that it asked for:
   * the job may have ended before.
   */
  Optional<String> outcome() {
    return asked ? Optional.of(outcome.join()) : Optional.empty();
  }

  private void stop() {
    asked = true;
    String said = "stopped; the same command goes on from the last checkpoint";
    try {
      console.say("stopping at a savepoint … (again to stop at once)");
      UnfinishedSavepoint.begin(run, job.toHexString());
      String savepoint =
          cluster.stopWithSavepoint(
              job, FlinkAddress.of(run.checkpoints()), LONGEST_SAVEPOINT.toSeconds());
      said = "stopped at a savepoint; the same command goes on from there";
      claim(FlinkAddress.path(savepoint));
    } catch (Exception e) {
      console.trace(e);
      cancel();
    } finally {
      outcome.complete(said);
    }
  }

  /** It was not the user who asked for a savepoint: it goes when newer checkpoints are there. */
  private void claim(Path savepoint) throws IOException {
    for (SavedState state : SavedState.list(run.checkpoints())) {
      if (state.path().equals(savepoint)) {
        ClaimedSavepoints.claim(run, state);
      }
    }
  }

  /** What deletes a savepoint that is not complete. */
  private interface Clearing {
    void clear(RunDirectory run) throws IOException;
  }

  /** What cannot be deleted now is deleted by the next process of the run. */
  private void clear(Clearing clearing) {
    try {
      clearing.clear(run);
    } catch (IOException | RuntimeException e) {
      console.trace(e);
    }
  }

  private void cancel() {
    try {
      cluster.cancel(job);
    } catch (Exception e) {
      console.trace(e);
    }
  }

  /** Signals do again what they did before. */
  @Override
  public void close() {
    interrupts.close();
    if (outcome.isDone()) {
      clear(UnfinishedSavepoint::end);
    }
  }
}
