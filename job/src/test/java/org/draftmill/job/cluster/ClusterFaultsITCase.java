package org.draftmill.job.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.draftmill.job.TestingRuns;
import org.draftmill.job.console.ExitCode;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Kills processes of a highly available cluster in the middle of a run, which must end with the
 * weights of an undisturbed one. The run needs five slots, so that it cannot go on without the
 * TaskManager that died.
 */
@Tag("cluster")
@Timeout(3600)
class ClusterFaultsITCase {
  private static final Duration PATIENCE = Duration.ofMinutes(20);
  private static final String EPOCHS = "jobs.epochs=100";

  /** A run must outlast the time until the dead TaskManager is missed, with Flink's default. */
  private static final String FLINKS_HEARTBEAT = "heartbeat.interval";

  @TempDir static Path reference;
  private static String expected;
  private static TestingCluster cluster;

  @TempDir Path dir;

  @BeforeAll
  static void start() throws Exception {
    TestingRuns embedded = TestingRuns.in(reference, 60, true);
    TestingRuns.Result result = embedded.train(EPOCHS);
    assertThat(result.exitCode()).as(result.out() + result.err()).isEqualTo(ExitCode.DONE);
    expected = TestingRuns.weights(embedded.runDirectory());
    cluster =
        TestingCluster.start(
            "faults", ClusterSpec.of(3, 2).highlyAvailable().with(FLINKS_HEARTBEAT, "10s"));
  }

  @AfterAll
  static void stop() throws Exception {
    if (cluster != null) {
      cluster.close();
    }
  }

  @Test
  void goesOnAfterATaskManagerWasKilledAndReplaced() throws Exception {
    TestingRuns runs = TestingRuns.in(dir, 60, true);
    String job = cluster.submit(runs.arguments(EPOCHS));
    cluster.awaitCheckpoints(job, 2, PATIENCE);

    cluster.kill(cluster.taskManagers().get(0));
    cluster.addTaskManager();
    cluster.awaitStatus(job, "FINISHED", PATIENCE);

    assertThat(cluster.rest().failures(job)).isPositive();
    requireUndisturbed(runs);
  }

  @Test
  void goesOnAfterTheJobManagerWasKilledAndReplaced() throws Exception {
    TestingRuns runs = TestingRuns.in(dir, 60, true);
    // Attached: the client finds the next JobManager, and ends with the job.
    Process client =
        cluster.startFlink(
            Stream.concat(
                    Stream.of("run", TestingCluster.jobJar().toString()),
                    Stream.of(runs.arguments(EPOCHS)))
                .toArray(String[]::new));
    String job = cluster.awaitJob("RUNNING", PATIENCE);
    cluster.awaitCheckpoints(job, 2, PATIENCE);

    cluster.kill(cluster.jobManagers().get(0));
    cluster.addJobManager();
    cluster.awaitStatus(job, "FINISHED", PATIENCE);

    assertThat(client.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
    assertThat(client.exitValue()).isZero();
    requireUndisturbed(runs);
  }

  private static void requireUndisturbed(TestingRuns runs) throws IOException {
    TestingRuns.requireEveryJobOnce(runs.runDirectory());
    assertThat(TestingRuns.weights(runs.runDirectory())).isEqualTo(expected);
  }
}
