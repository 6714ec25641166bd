package org.draftmill.operators.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.api.common.operators.SlotSharingGroup;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.streaming.api.operators.StreamingRuntimeContext;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.draftmill.operators.TestingClusters;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Subtasks of one process that ask for a GPU each, fail, and start again. */
class GpuLeaseITCase {
  private static final int GPUS = 3;

  @RegisterExtension
  static final MiniClusterExtension CLUSTER =
      new MiniClusterExtension(
          new MiniClusterResourceConfiguration.Builder()
              .setConfiguration(gpus(TestingClusters.patient()))
              .setNumberTaskManagers(1)
              .setNumberSlotsPerTaskManager(GPUS + 1)
              .build());

  /** Which GPU each subtask had, by its attempt. */
  private static final Map<String, String> LEASED = new ConcurrentHashMap<>();

  /** By attempt, opens when each subtask has leased: none may end, and give back, before that. */
  private static final Map<Integer, CountDownLatch> ALL_LEASED = new ConcurrentHashMap<>();

  private static Configuration gpus(Configuration flink) {
    flink.setString("external-resources", GpuResource.NAME);
    flink.set(GpuResource.AMOUNT, (long) GPUS);
    return flink;
  }

  @BeforeEach
  void forget() {
    LEASED.clear();
    ALL_LEASED.clear();
  }

  /** Leases while it is open; the first attempt of subtask 0 fails when all have leased. */
  private static final class Leasing extends RichMapFunction<Long, Long> {
    private transient DeviceLease lease;

    @Override
    public void open(OpenContext context) throws Exception {
      lease = DeviceLease.take("auto", GpuClaim.of((StreamingRuntimeContext) getRuntimeContext()));
      int attempt = getRuntimeContext().getTaskInfo().getAttemptNumber();
      int subtask = getRuntimeContext().getTaskInfo().getIndexOfThisSubtask();
      LEASED.put(attempt + "/" + subtask, lease.gpu().orElseThrow());
      CountDownLatch allLeased =
          ALL_LEASED.computeIfAbsent(attempt, any -> new CountDownLatch(GPUS));
      allLeased.countDown();
      assertThat(allLeased.await(5, TimeUnit.MINUTES)).isTrue();
      if (attempt == 0 && subtask == 0) {
        throw new IllegalStateException("This failure is part of the test.");
      }
    }

    @Override
    public Long map(Long value) {
      return value;
    }

    @Override
    public void close() {
      if (lease != null) {
        lease.close();
      }
    }
  }

  @Test
  void haveAnotherOneEachInEveryAttempt() throws Exception {
    Configuration job = gpus(new Configuration());
    job.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
    job.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, 1);
    StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(job);
    SlotSharingGroup source =
        SlotSharingGroup.newBuilder("source").setCpuCores(1).setTaskHeapMemoryMB(1).build();
    SlotSharingGroup device =
        SlotSharingGroup.newBuilder("device")
            .setCpuCores(1)
            .setTaskHeapMemoryMB(1)
            .setExternalResource(GpuResource.NAME, 1)
            .build();
    env.fromSequence(1, 100)
        .setParallelism(1)
        .slotSharingGroup(source)
        .rebalance()
        .map(new Leasing())
        .setParallelism(GPUS)
        .slotSharingGroup(device)
        .sinkTo(new DiscardingSink<>())
        .setParallelism(GPUS)
        .slotSharingGroup(device);

    env.execute();

    for (String attempt : List.of("0", "1")) {
      assertThat(List.of(attempt + "/0", attempt + "/1", attempt + "/2"))
          .extracting(LEASED::get)
          .containsExactlyInAnyOrder("0", "1", "2");
    }
    assertThat(LeasedGpus.describe(List.of("0", "1", "2"))).isEqualTo("0: free; 1: free; 2: free");
  }
}
