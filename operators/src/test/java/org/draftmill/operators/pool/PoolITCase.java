package org.draftmill.operators.pool;

import static java.time.Duration.ofMinutes;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.RichFlatMapFunction;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.util.Collector;
import org.apache.flink.util.ExceptionUtils;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.draftmill.operators.TestingClusters;
import org.draftmill.operators.jobs.ExtractionJob;
import org.draftmill.operators.jobs.JobSource;
import org.draftmill.operators.jobs.TestingHold;
import org.draftmill.operators.jobs.TestingPlans;
import org.draftmill.operators.pool.TestingDrafter.Failure;
import org.draftmill.serializers.Delivery;
import org.draftmill.serializers.HiddenStateChunk;
import org.draftmill.serializers.RecordTypeInfo;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The pool between real sources and drafters that ask. */
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class PoolITCase {
  private static final int TARGETS = 5;
  private static final int[] UNEQUAL_DRAFTERS = {5, 20, 60};

  @RegisterExtension
  private static final MiniClusterExtension CLUSTER =
      new MiniClusterExtension(
          new MiniClusterResourceConfiguration.Builder()
              .setConfiguration(TestingClusters.patient())
              .setNumberTaskManagers(1)
              .setNumberSlotsPerTaskManager(TARGETS)
              .build());

  @TempDir Path directory;

  @BeforeEach
  void clear() {
    TestingRecord.clear();
    TestingTarget.slow(0);
  }

  @Test
  void aSlowTargetAndUnequalDraftersChangeNoOrder() throws Exception {
    PoolSettings settings = settings(400, 12).minReady(10).maxReady(10).build();
    TestingTarget.slow(settings.run().jobs());
    start(settings, new Configuration(), 1).getJobExecutionResult().get();
    checkAll(settings);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 11})
  void shortListsEnd(int jobs) throws Exception {
    PoolSettings settings = settings(jobs, 5).minReady(4).shards(2, 2).build();
    start(settings, new Configuration(), 1).getJobExecutionResult().get();
    checkAll(settings);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void afterAFailureTheOrderGoesOn(int parallelism) throws Exception {
    PoolSettings settings = settings(600, 7).minReady(6).shards(parallelism, parallelism).build();
    // The list rests in its middle until a checkpoint is complete.
    Failure failure = new Failure(20, TestingHold.at(300));
    start(settings, checkpoints(), 3, failure.hold(), failure).getJobExecutionResult().get();
    checkAll(settings);
    assertThat(TestingRecord.failures()).isOne();
  }

  @Test
  void shardsMoveWholeWhenThePoolIsRescaled() throws Exception {
    Configuration configuration = checkpoints();
    PoolSettings settings = settings(2_000, 9).minReady(6).shards(3, 1).build();
    for (int parallelism = 1; parallelism < 3; parallelism++) {
      PoolSettings rescaled = settings(2_000, 9).minReady(6).shards(3, parallelism).build();
      // Of 300 jobs no shard keeps back more than it must hold to release one: six, less one.
      JobClient job =
          start(rescaled, configuration, 2, TestingHold.at(300L * parallelism), Failure.NEVER);
      long enough = 30L * parallelism;
      await().until(() -> TestingRecord.steps(3) > enough);
      configuration.set(
          StateRecoveryOptions.SAVEPOINT_PATH,
          job.stopWithSavepoint(
                  false,
                  directory.resolve("savepoints").toUri().toString(),
                  SavepointFormatType.NATIVE)
              .get());
    }
    assertThat(TestingRecord.steps(3)).isLessThan(settings.list(0).steps());
    PoolSettings three = settings(2_000, 9).minReady(6).shards(3, 3).build();
    start(three, configuration, 2).getJobExecutionResult().get();
    checkAll(settings);
  }

  @Test
  void aCheckpointOfAnotherOrderIsRefused() throws Exception {
    Configuration configuration = checkpoints();
    JobClient job =
        start(settings(2_000, 9).build(), configuration, 1, TestingHold.at(200), Failure.NEVER);
    await().until(() -> TestingRecord.steps(1) > 10);
    configuration.set(
        StateRecoveryOptions.SAVEPOINT_PATH,
        job.stopWithSavepoint(false, directory.toUri().toString(), SavepointFormatType.NATIVE)
            .get());
    PoolSettings other = settings(2_000, 9).window(5).build();
    assertThatThrownBy(() -> start(other, configuration, 1).getJobExecutionResult().get())
        .satisfies(
            failure ->
                assertThat(
                        ExceptionUtils.findThrowable(failure, IllegalConfigurationException.class))
                    .get()
                    .extracting(Throwable::getMessage)
                    .asString()
                    .contains("pool.window = 2, this run has 5"));
  }

  private static TestingSettings settings(int jobs, int accumulation) {
    return TestingSettings.of(jobs, accumulation).drafters(UNEQUAL_DRAFTERS.length);
  }

  private Configuration checkpoints() {
    Configuration configuration = new Configuration();
    configuration.set(
        CheckpointingOptions.CHECKPOINTS_DIRECTORY,
        directory.resolve("checkpoints").toUri().toString());
    configuration.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, Duration.ofMillis(30));
    return configuration;
  }

  private static ConditionFactory await() {
    return Awaitility.await().atMost(ofMinutes(5));
  }

  private JobClient start(PoolSettings settings, Configuration more, int epochs) throws Exception {
    return start(settings, more, epochs, TestingHold.at(Long.MAX_VALUE), Failure.NEVER);
  }

  /**
   * @param hold of the list of jobs
   */
  private JobClient start(
      PoolSettings settings, Configuration more, int epochs, TestingHold hold, Failure failure)
      throws Exception {
    Configuration configuration = new Configuration(more);
    configuration.set(PipelineOptions.GENERIC_TYPES, false);
    configuration.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
    configuration.set(
        RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, failure.isToCome() ? 1 : 0);
    configuration.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, Duration.ZERO);
    var env = StreamExecutionEnvironment.getExecutionEnvironment(configuration);
    env.setParallelism(TARGETS);
    env.setBufferTimeout(0);
    int jobsOfEpoch = (int) (settings.run().jobs() / epochs);
    String plan =
        TestingPlans.write(
            Files.createTempDirectory(directory, "run").resolve("plan"), jobsOfEpoch, epochs);
    var drafterWork =
        new TestingDrafter.Work(
            settings.shards(), settings.list(0).steps(), UNEQUAL_DRAFTERS, failure);
    env.fromSource(
            hold.on(new JobSource(plan), ExtractionJob::position),
            WatermarkStrategy.noWatermarks(),
            "jobs",
            TypeInformation.of(ExtractionJob.class))
        .uid("jobs")
        .flatMap(new TestingTarget())
        .returns(RecordTypeInfo.HIDDEN_STATE_CHUNK)
        .uid("target")
        .keyBy(new ShardKeys(settings.shards()))
        .transform("pool", RecordTypeInfo.DELIVERY, new PoolOperatorFactory(settings))
        .uid("pool")
        .setParallelism(settings.parallelism())
        .setMaxParallelism(ShardKeys.MAX_PARALLELISM)
        .partitionCustom((drafter, drafters) -> drafter, Delivery::drafter)
        .transform("drafter", Types.LONG, new TestingDrafter.Factory(drafterWork))
        .uid("drafter")
        .setParallelism(UNEQUAL_DRAFTERS.length)
        .sinkTo(new DiscardingSink<>())
        .setParallelism(UNEQUAL_DRAFTERS.length);
    return env.executeAsync();
  }

  private static void checkAll(PoolSettings settings) {
    for (int shard = 0; shard < settings.shards(); shard++) {
      assertThat(TestingRecord.released(shard)).isEqualTo(PoolOrderTest.shuffled(settings, shard));
    }
    List<Long> trained = TestingRecord.trained().values().stream().flatMap(List::stream).toList();
    assertThat(trained)
        .containsExactlyInAnyOrderElementsOf(
            LongStream.range(0, settings.run().jobs()).boxed().toList());
  }

  /** Makes eight chunks of about 4 KB of each job. */
  private static final class TestingTarget
      extends RichFlatMapFunction<ExtractionJob, HiddenStateChunk> {
    private static final AtomicLong EMITTED = new AtomicLong();
    private static volatile long jobs = 0;

    /** From now on the first subtask lets the others emit 50 jobs before each of its own. */
    static void slow(long jobsInAll) {
      EMITTED.set(0);
      jobs = jobsInAll;
    }

    @Override
    public void flatMap(ExtractionJob job, Collector<HiddenStateChunk> out) {
      if (jobs > 0 && getRuntimeContext().getTaskInfo().getIndexOfThisSubtask() == 0) {
        long enough = Math.min(EMITTED.get() + 50, jobs - 1);
        await().until(() -> EMITTED.get() >= enough);
      }
      TestingChunks.of(job.id(), 8, 8, 120).forEach(out::collect);
      EMITTED.incrementAndGet();
    }
  }
}
