package org.draftmill.job.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutionException;
import org.apache.flink.api.common.JobID;
import org.apache.flink.core.execution.RecoveryClaimMode;
import org.apache.flink.runtime.jobgraph.SavepointRestoreSettings;
import org.apache.flink.streaming.api.graph.StreamGraph;
import org.awaitility.Awaitility;
import org.draftmill.job.train.ResolvedRun;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Stops a run at savepoints and goes on with other numbers of subtasks of every stage. */
@Timeout(3600)
class RescaleITCase {
  private static final int SHARDS = 3;
  private static final List<Scenario> PHASES =
      List.of(phase(2, 3, 1), phase(5, 2, 3), phase(1, 1, 2));

  @TempDir Path home;

  private static Scenario phase(int targets, int drafters, int poolSubtasks) {
    return new Scenario(0, targets, drafters, SHARDS, poolSubtasks, 100, List.of());
  }

  @Test
  void everyStageChangesItsParallelismAndTheWeightsStay() throws Exception {
    int slots = PHASES.stream().mapToInt(RescaleITCase::slots).max().orElseThrow();
    ChaosCluster cluster = ChaosCluster.start(slots);
    try {
      ChaosRun runs = ChaosRun.in(home);
      ResolvedRun calm = runs.of("calm", phase(1, 1, 1));
      finish(cluster, cluster.submit(ChaosRun.graph(calm)));

      ResolvedRun run = null;
      // A run does not wait for who stops it.
      for (int tries = 1; run == null; tries++) {
        assertThat(tries).as("runs that ended before they were stopped").isLessThan(10);
        run = rescaled(cluster, runs, "rescaled-" + tries);
      }

      Evidence expected = Evidence.of(calm);
      Evidence found = Evidence.of(run);
      assertThat(found.steps()).isEqualTo(expected.steps());
      assertThat(found).isEqualTo(expected);
    } finally {
      cluster.close();
    }
  }

  /** A run that went through all phases, or null if it ended before. */
  private static ResolvedRun rescaled(ChaosCluster cluster, ChaosRun runs, String name)
      throws Exception {
    String savepoint = null;
    for (int phase = 0; phase < PHASES.size(); phase++) {
      ResolvedRun run = runs.of(name, PHASES.get(phase));
      StreamGraph graph = ChaosRun.graph(run);
      if (savepoint != null) {
        graph.setSavepointRestoreSettings(
            SavepointRestoreSettings.forPath(savepoint, false, RecoveryClaimMode.NO_CLAIM));
      }
      JobID job = cluster.submit(graph);
      if (phase == PHASES.size() - 1) {
        finish(cluster, job);
        return run;
      }
      awaitProgress(cluster, job, run, (phase + 1.0) / (PHASES.size() + 1));
      try {
        savepoint =
            cluster.stopWithSavepoint(job, run.directory().checkpoints().toUri().toString());
      } catch (ExecutionException e) {
        finish(cluster, job); // with its failure, if it failed
        return null;
      }
    }
    throw new IllegalStateException("there are no phases");
  }

  private static int slots(Scenario phase) {
    return phase.targets() + phase.drafters() + phase.poolSubtasks();
  }

  /** Waits until a run has come so far, or has ended. */
  private static void awaitProgress(ChaosCluster cluster, JobID job, ResolvedRun run, double part) {
    LiveJob live =
        new LiveJob(
            job, new LiveJob.Shape(run.steps(), ChaosRun.EPOCHS, ChaosRun.MIN_READY * SHARDS));
    Awaitility.await()
        .pollInterval(Duration.ofMillis(5))
        .atMost(Duration.ofMinutes(20))
        .until(() -> live.progress() >= part || cluster.status(job).isGloballyTerminalState());
  }

  private static void finish(ChaosCluster cluster, JobID job) throws Exception {
    cluster.result(job).toJobExecutionResult(RescaleITCase.class.getClassLoader());
  }
}
