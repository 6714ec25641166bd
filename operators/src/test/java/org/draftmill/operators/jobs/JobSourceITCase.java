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
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

class JobSourceITCase {
  private static final int MOST_JOBS = 100_000;

  @RegisterExtension
  private static final MiniClusterExtension CLUSTER =
      new MiniClusterExtension(
          new MiniClusterResourceConfiguration.Builder()
              .setNumberTaskManagers(1)
              .setNumberSlotsPerTaskManager(3)
              .build());

  @TempDir Path directory;

  private static List<Long> run(
      StreamExecutionEnvironment env, String plan, RichMapFunction<ExtractionJob, Long> target)
      throws Exception {
    return env.fromSource(new JobSource(plan), WatermarkStrategy.noWatermarks(), "jobs")
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

    assertThat(run(env(1), plan, new Position()))
        .isEqualTo(LongStream.range(0, 600).boxed().toList());
  }

  @Test
  void aSlowReaderKeepsNoJobFromTheOthers() throws Exception {
    String plan = TestingPlans.write(directory.resolve("plan"), 200, 1);

    List<Long> done = run(env(3), plan, new FirstReaderWaitsForAllOthers(200));

    assertThat(done).containsExactlyInAnyOrderElementsOf(LongStream.range(0, 200).boxed().toList());
    assertThat(FirstReaderWaitsForAllOthers.DONE.get(0)).hasSize(1);
    FirstReaderWaitsForAllOthers.DONE.values().forEach(jobs -> assertThat(jobs).isSorted());
  }

  @Test
  void everyJobComesOnceAcrossARestart() throws Exception {
    String plan = TestingPlans.write(directory.resolve("plan"), 4_000, 2);
    StreamExecutionEnvironment env = env(3);
    env.enableCheckpointing(10);

    List<Long> done = run(env, plan, new FailsAfterACheckpoint());

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

  /** The first reader to get a job keeps it until the others have done all the rest. */
  private static final class FirstReaderWaitsForAllOthers
      extends RichMapFunction<ExtractionJob, Long> {
    static final Map<Integer, List<Long>> DONE = new ConcurrentHashMap<>();
    private static CountDownLatch others;

    FirstReaderWaitsForAllOthers(int jobs) {
      DONE.clear();
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
        others.await();
      } else {
        others.countDown();
      }
      return job.position();
    }
  }

  private static final class FailsAfterACheckpoint extends RichMapFunction<ExtractionJob, Long>
      implements CheckpointListener {
    static final AtomicBoolean FAILED = new AtomicBoolean();
    private boolean checkpointed;

    FailsAfterACheckpoint() {
      FAILED.set(false);
    }

    @Override
    public void notifyCheckpointComplete(long checkpointId) {
      checkpointed = true;
    }

    @Override
    public Long map(ExtractionJob job) {
      boolean middle = getRuntimeContext().getTaskInfo().getIndexOfThisSubtask() == 1;
      if (checkpointed && middle && FAILED.compareAndSet(false, true)) {
        throw new IllegalStateException("This failure is part of the test.");
      }
      return job.position();
    }
  }
}
