package org.draftmill.job.train;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.apache.flink.api.common.JobID;
import org.draftmill.job.console.Console;
import org.draftmill.job.console.Interrupts;
import org.draftmill.job.embedded.EmbeddedCluster;
import org.draftmill.job.run.ClaimedSavepoints;
import org.draftmill.job.run.FlinkAddress;
import org.draftmill.job.run.RunDirectory;
import org.draftmill.job.run.SavedState;

/** Stops a job at a savepoint when the process is told to end, from its making to its closing. */
final class StopOnSignal implements AutoCloseable {
  private static final Duration LONGEST_SAVEPOINT = Duration.ofMinutes(10);

  private final Console console;
  private final EmbeddedCluster cluster;
  private final JobID job;
  private final RunDirectory run;
  private final Interrupts interrupts;
  private volatile String outcome;

  StopOnSignal(Console console, EmbeddedCluster cluster, JobID job, RunDirectory run) {
    this.console = console;
    this.cluster = cluster;
    this.job = job;
    this.run = run;
    interrupts = Interrupts.handle(this::stop);
  }

  /** What to say at the end, once a signal came. */
  Optional<String> outcome() {
    return Optional.ofNullable(outcome);
  }

  private void stop() {
    console.say("stopping at a savepoint … (again to stop at once)");
    outcome = "stopped; the same command goes on from the last checkpoint";
    try {
      String savepoint =
          cluster.stopWithSavepoint(
              job, FlinkAddress.of(run.checkpoints()), LONGEST_SAVEPOINT.toSeconds());
      outcome = "stopped at a savepoint; the same command goes on from there";
      claim(FlinkAddress.path(savepoint));
    } catch (Exception e) {
      console.trace(e);
      cancel();
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
  }
}
