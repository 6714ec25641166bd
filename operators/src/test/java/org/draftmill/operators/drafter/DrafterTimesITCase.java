package org.draftmill.operators.drafter;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.test.junit5.InjectMiniCluster;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.awaitility.Awaitility;
import org.draftmill.compute.drafter.Collective;
import org.draftmill.compute.drafter.Microbatch;
import org.draftmill.compute.drafter.MicrobatchFigures;
import org.draftmill.compute.drafter.StepFigures;
import org.draftmill.operators.TestingClusters;
import org.draftmill.operators.busy.TestingTaskTimes;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** What Flink's web UI shows of drafters and of the pool while a drafter is the slowest of all. */
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class DrafterTimesITCase {
  private static final int MILLIS = 30;
  private static final int JOBS = 60;
  private static final int HELD_MILLIS = 1_000;
  private static final AtomicLong TRAINING_NANOS = new AtomicLong();
  private static final AtomicLong HELD_NANOS = new AtomicLong();

  @RegisterExtension
  private static final MiniClusterExtension CLUSTER =
      new MiniClusterExtension(
          new MiniClusterResourceConfiguration.Builder()
              .setConfiguration(TestingClusters.patient())
              .setNumberTaskManagers(1)
              .setNumberSlotsPerTaskManager(2)
              .build());

  @TempDir Path directory;

  @BeforeEach
  void reset() {
    TRAINING_NANOS.set(0);
    HELD_NANOS.set(0);
  }

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
            it ->
                assertThat(it.backPressured())
                    .as("milliseconds that it waits for the drafter, of %s", it)
                    .isGreaterThan(0.9 * HELD_NANOS.get() / 1e6));
  }

  /** Whether the pool is full, and its task's thread waits for demand. */
  private static boolean poolWaits() {
    return Thread.getAllStackTraces().values().stream()
        .anyMatch(stack -> isIn("PoolOperator", "waitWhile", stack) && isIn("", "park", stack));
  }

  private static boolean isIn(String ofClass, String method, StackTraceElement[] stack) {
    return Stream.of(stack)
        .anyMatch(
            frame ->
                frame.getClassName().endsWith(ofClass) && frame.getMethodName().equals(method));
  }

  /** Takes its time for each microbatch, and some more for the first one when the pool waits. */
  private record Timed(Trainer trainer) implements Trainer {
    @Override
    public MicrobatchFigures accumulate(Microbatch microbatch) {
      long start = System.nanoTime();
      if (HELD_NANOS.get() == 0) {
        Awaitility.await().atMost(5, TimeUnit.MINUTES).until(DrafterTimesITCase::poolWaits);
        sleep(HELD_MILLIS, HELD_NANOS);
      }
      sleep(MILLIS, new AtomicLong());
      MicrobatchFigures figures = trainer.accumulate(microbatch);
      TRAINING_NANOS.addAndGet(System.nanoTime() - start);
      return figures;
    }

    private static void sleep(int millis, AtomicLong nanos) {
      long start = System.nanoTime();
      try {
        Thread.sleep(millis);
      } catch (InterruptedException e) {
        throw new IllegalStateException("interrupted", e);
      }
      nanos.addAndGet(System.nanoTime() - start);
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
