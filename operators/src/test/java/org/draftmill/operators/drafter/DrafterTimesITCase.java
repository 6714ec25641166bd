package org.draftmill.operators.drafter;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.test.junit5.InjectMiniCluster;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.draftmill.compute.drafter.Collective;
import org.draftmill.compute.drafter.Microbatch;
import org.draftmill.compute.drafter.MicrobatchFigures;
import org.draftmill.compute.drafter.StepFigures;
import org.draftmill.operators.busy.TestingTaskTimes;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** What Flink's web UI shows of drafters and of the pool while a drafter is the slowest of all. */
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class DrafterTimesITCase {
  private static final int MILLIS = 30;
  private static final int JOBS = 60;
  private static final AtomicLong TRAINING_NANOS = new AtomicLong();

  @RegisterExtension
  private static final MiniClusterExtension CLUSTER =
      new MiniClusterExtension(
          new MiniClusterResourceConfiguration.Builder()
              .setNumberTaskManagers(1)
              .setNumberSlotsPerTaskManager(2)
              .build());

  @TempDir Path directory;

  @Test
  void aDrafterIsBusyWhileItTrainsAndThePoolWaitsForIt(@InjectMiniCluster MiniCluster cluster)
      throws Exception {
    JobClient job =
        new TestingRun(directory, JOBS)
            .drafters(1)
            .hook((trainer, rank, attempt) -> new Timed(trainer))
            .start();
    job.getJobExecutionResult().get();

    double training = TRAINING_NANOS.get() / 1e6;
    assertThat(training).isGreaterThanOrEqualTo(MILLIS * JOBS);
    List<TestingTaskTimes> drafter = TestingTaskTimes.of(cluster, job.getJobID(), "drafter");
    assertThat(drafter)
        .singleElement()
        .satisfies(it -> assertThat(it.busy()).isGreaterThan(0.95 * training));
    List<TestingTaskTimes> pool = TestingTaskTimes.of(cluster, job.getJobID(), "pool");
    assertThat(pool)
        .singleElement()
        .satisfies(
            it -> {
              assertThat(it.backPressured())
                  .as("waits for the drafter")
                  .isGreaterThan(0.5 * training);
              assertThat(it.busy()).as("%s", it).isLessThan(it.backPressured());
            });
  }

  /** Takes its time for each microbatch. */
  private record Timed(Trainer trainer) implements Trainer {
    @Override
    public MicrobatchFigures accumulate(Microbatch microbatch) {
      long start = System.nanoTime();
      try {
        Thread.sleep(MILLIS);
      } catch (InterruptedException e) {
        throw new IllegalStateException("interrupted", e);
      }
      MicrobatchFigures figures = trainer.accumulate(microbatch);
      TRAINING_NANOS.addAndGet(System.nanoTime() - start);
      return figures;
    }

    @Override
    public void tombstone() {
      trainer.tombstone();
    }

    @Override
    public StepFigures step(Collective collective) throws IOException {
      return trainer.step(collective);
    }

    @Override
    public void close() {
      trainer.close();
    }
  }
}
