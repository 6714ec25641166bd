package org.draftmill.operators.target;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.test.junit5.InjectMiniCluster;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.awaitility.Awaitility;
import org.draftmill.compute.cuda.MatrixProducts;
import org.draftmill.operators.TestingClusters;
import org.draftmill.operators.busy.TestingTaskTimes;
import org.draftmill.operators.jobs.ExtractionJob;
import org.draftmill.serializers.HiddenDType;
import org.draftmill.serializers.HiddenStateChunk;
import org.draftmill.serializers.RecordTypeInfo;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What Flink's web UI shows of a target that works, and of one that waits for the pool. */
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class TargetTimesITCase {
  /** A job of so many tokens takes many times the buffers between the stages. */
  private static final int TOKENS = 10_000;

  private static final AtomicLong FORWARD_NANOS = new AtomicLong();
  private static final AtomicLong BLOCKED_NANOS = new AtomicLong();
  private static volatile TestingExtractor extractor;

  @RegisterExtension
  private static final MiniClusterExtension CLUSTER =
      new MiniClusterExtension(
          new MiniClusterResourceConfiguration.Builder()
              .setNumberTaskManagers(1)
              .setNumberSlotsPerTaskManager(2)
              .setConfiguration(smallBuffers())
              .build());

  /** So that little fits between the stages. */
  private static Configuration smallBuffers() {
    Configuration configuration = TestingClusters.patient();
    configuration.set(TaskManagerOptions.MEMORY_SEGMENT_SIZE, new MemorySize(4 << 10));
    return configuration;
  }

  @BeforeEach
  void reset() {
    FORWARD_NANOS.set(0);
    BLOCKED_NANOS.set(0);
  }

  /** Takes that long, as the work of a device would. */
  private static void work(int millis, AtomicLong nanos) throws InterruptedException {
    long start = System.nanoTime();
    Thread.sleep(millis);
    nanos.addAndGet(System.nanoTime() - start);
  }

  /** Keeps a record until the target can do nothing but wait for room, and that long after. */
  private static HiddenStateChunk keep(HiddenStateChunk chunk, int millis)
      throws InterruptedException {
    if (chunk.position() == 0 && chunk.chunk() == 0) {
      Awaitility.await()
          .atMost(Duration.ofMinutes(5))
          .until(() -> aThreadWaitsForABuffer() && allThatIsInsideIsDone());
      work(millis, BLOCKED_NANOS);
    }
    return chunk;
  }

  private static boolean aThreadWaitsForABuffer() {
    return Thread.getAllStackTraces().values().stream()
        .flatMap(Stream::of)
        .anyMatch(frame -> frame.getMethodName().equals("requestBufferBuilderBlocking"));
  }

  /** Its threads have worked off the jobs that it takes at once, and wait for the next one. */
  private static boolean allThatIsInsideIsDone() {
    return extractor.forwards.size() == TargetPipeline.DEPTH
        && extractor.open.get() == 0
        && Thread.getAllStackTraces().entrySet().stream()
            .filter(thread -> thread.getKey().getName().startsWith("target-"))
            .allMatch(
                thread ->
                    Stream.of(thread.getValue())
                        .anyMatch(frame -> frame.getMethodName().equals("take")));
  }

  private TestingTaskTimes run(MiniCluster cluster, int jobs, int forwardMillis, int keepMillis)
      throws Exception {
    TargetSettings settings =
        new TargetSettings(
            "model",
            "dataset",
            "reference",
            1,
            MatrixProducts.OWN,
            List.of(1),
            true,
            HiddenDType.FLOAT32,
            4 << 10,
            0,
            Duration.ofMinutes(1));
    StreamExecutionEnvironment env =
        StreamExecutionEnvironment.getExecutionEnvironment(new Configuration());
    env.setParallelism(1);
    env.fromSequence(0, jobs - 1)
        .map(position -> TestingExtractor.job(position, TOKENS))
        .returns(ExtractionJob.class)
        .transform(
            "target",
            RecordTypeInfo.HIDDEN_STATE_CHUNK,
            new TargetOperatorFactory(
                settings,
                (of, device) -> {
                  extractor = new TestingExtractor();
                  extractor.onForward = job -> work(forwardMillis, FORWARD_NANOS);
                  return extractor;
                }))
        .rebalance()
        .map(chunk -> keepMillis == 0 ? chunk : keep(chunk, keepMillis))
        .returns(RecordTypeInfo.HIDDEN_STATE_CHUNK)
        .sinkTo(new DiscardingSink<HiddenStateChunk>());
    JobClient client = env.executeAsync();
    client.getJobExecutionResult().get();
    JobID job = client.getJobID();
    return TestingTaskTimes.of(cluster, job, "target").get(0);
  }

  @Test
  void aTargetIsBusyWhileItComputesThoughItsTaskOnlyWaits(@InjectMiniCluster MiniCluster cluster)
      throws Exception {
    TestingTaskTimes target = run(cluster, 40, 30, 0);

    double forward = FORWARD_NANOS.get() / 1e6;
    assertThat(forward).isGreaterThanOrEqualTo(30 * 40);
    assertThat(target.busy()).as("%s", target).isGreaterThan(0.95 * forward);
  }

  @Test
  void aTargetThatWaitsForRoomIsBackPressured(@InjectMiniCluster MiniCluster cluster)
      throws Exception {
    TestingTaskTimes target = run(cluster, 5, 0, 800);

    double blocked = BLOCKED_NANOS.get() / 1e6;
    assertThat(blocked).isGreaterThanOrEqualTo(800);
    assertThat(target.backPressured()).as("%s", target).isGreaterThan(0.9 * blocked);
  }
}
