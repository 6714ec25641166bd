package org.draftmill.operators.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.LongStream;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.api.common.state.CheckpointListener;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.draftmill.operators.TestingClusters;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

class JobSourceITCase {
  private static final int MOST_JOBS = 100_000;

  @RegisterExtension
  private static final MiniClusterExtension CLUSTER =
      new MiniClusterExtension(
          new MiniClusterResourceConfiguration.Builder()
              .setConfiguration(TestingClusters.patient())
              .setNumberTaskManagers(1)
              .setNumberSlotsPerTaskManager(3)
              .build());

  @TempDir Path directory;

  private static List<Long> run(
      StreamExecutionEnvironment env,
      Source<ExtractionJob, ?, ?> jobs,
      RichMapFunction<ExtractionJob, Long> target)
      throws Exception {
    return env.fromSource(
            jobs, WatermarkStrategy.noWatermarks(), "jobs", TypeInformation.of(ExtractionJob.class))
        .map(target)
        .executeAndCollect(MOST_JOBS);
  }

  private static StreamExecutionEnvironment env(int parallelism) {
    Configuration configuration = new Configuration();
    configuration.set(PipelineOptions.GENERIC_TYPES, false);
    configuration.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
    configuration.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, 1);
    StreamExecutionEnvironment env =
        StreamExecutionEnvironment.getExecutionEnvironment(configuration);
    env.setParallelism(parallelism);
    return env;
  }

  @Test
  void oneReaderGetsAllEpochsInOrder() throws Exception {
    String plan = TestingPlans.write(directory.resolve("plan"), 300, 2);

    assertThat(run(env(1), new JobSource(plan), new Position()))
        .isEqualTo(LongStream.range(0, 600).boxed().toList());
  }

  @Test
  void aSlowReaderKeepsNoJobFromTheOthers() throws Exception {
    String plan = TestingPlans.write(directory.resolve("plan"), 200, 1);

    List<Long> done = run(env(3), new JobSource(plan), new FirstReaderWaitsForAllOthers(200));

    assertThat(done).containsExactlyInAnyOrderElementsOf(LongStream.range(0, 200).boxed().toList());
    assertThat(FirstReaderWaitsForAllOthers.DONE.get(0)).hasSize(1);
    FirstReaderWaitsForAllOthers.DONE.values().forEach(jobs -> assertThat(jobs).isSorted());
  }

  @Test
  void everyJobComesOnceAcrossARestart() throws Exception {
    String plan = TestingPlans.write(directory.resolve("plan"), 4_000, 2);
    StreamExecutionEnvironment env = env(3);
    env.enableCheckpointing(10);

    TestingHold hold = TestingHold.at(1_000);

    List<Long> done =
        run(
            env,
            hold.on(new JobSource(plan), ExtractionJob::position),
            new FailsAfterACheckpoint(hold));

    assertThat(FailsAfterACheckpoint.FAILED).isTrue();
    assertThat(done)
        .containsExactlyInAnyOrderElementsOf(LongStream.range(0, 8_000).boxed().toList());
  }

  private static final class Position extends RichMapFunction<ExtractionJob, Long> {
    @Override
    public Long map(ExtractionJob job) {
      return job.position();
    }
  }

  /** One reader keeps the first job it gets until the others have done all the rest. */
  private static final class FirstReaderWaitsForAllOthers
      extends RichMapFunction<ExtractionJob, Long> {
    static final Map<Integer, List<Long>> DONE = new ConcurrentHashMap<>();
    private static volatile CountDownLatch first; // opens when that reader has its job
    private static volatile CountDownLatch others;

    FirstReaderWaitsForAllOthers(int jobs) {
      DONE.clear();
      first = new CountDownLatch(1);
      others = new CountDownLatch(jobs - 1);
    }

    @Override
    public void open(OpenContext context) {
      DONE.put(getRuntimeContext().getTaskInfo().getIndexOfThisSubtask(), new ArrayList<>());
    }

    @Override
    public Long map(ExtractionJob job) throws InterruptedException {
      int subtask = getRuntimeContext().getTaskInfo().getIndexOfThisSubtask();
      DONE.get(subtask).add(job.position());
      if (subtask == 0) {
        first.countDown();
        others.await();
      } else {
        first.await();
        others.countDown();
      }
      return job.position();
    }
  }

  /** The list rests in its middle until a checkpoint is complete; the next job fails. */
  private static final class FailsAfterACheckpoint extends RichMapFunction<ExtractionJob, Long>
      implements CheckpointListener {
    static final AtomicBoolean FAILED = new AtomicBoolean();
    private final TestingHold hold;

    FailsAfterACheckpoint(TestingHold hold) {
      this.hold = hold;
      FAILED.set(false);
    }

    @Override
    public void notifyCheckpointComplete(long checkpointId) {
      if (hold.isReached()) {
        hold.release();
      }
    }

    @Override
    public Long map(ExtractionJob job) {
      if (hold.isReleased() && FAILED.compareAndSet(false, true)) {
        throw new IllegalStateException("This failure is part of the test.");
      }
      return job.position();
    }
  }
}
