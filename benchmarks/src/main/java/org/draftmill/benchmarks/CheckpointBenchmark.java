package org.draftmill.benchmarks;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.ToLongFunction;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource.NumberSequenceSplit;
import org.apache.flink.api.connector.source.util.ratelimit.RateLimiter;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ExecutionOptions;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.configuration.WebOptions;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.connector.datagen.source.GeneratorFunction;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.draftmill.job.embedded.EmbeddedCluster;
import org.draftmill.job.embedded.RestMetrics;
import org.draftmill.operators.pool.PoolOperatorFactory;
import org.draftmill.operators.pool.PoolSettings;
import org.draftmill.operators.pool.ReleaseOrder;
import org.draftmill.operators.pool.ShardKeys;
import org.draftmill.serializers.Delivery;
import org.draftmill.serializers.HiddenStateChunk;
import org.draftmill.serializers.RecordTypeInfo;

/**
 * What a checkpoint costs with a full pool: how long the stream is held up, how long the state is
 * written beside it, and how large it is. No drafter asks, so the pool keeps what it got.
 */
public final class CheckpointBenchmark {
  private static final int CHUNKS_OF_JOB = 4;
  private static final int MEGABYTES_OF_JOB = CHUNKS_OF_JOB * Chunks.DEFAULT_BYTES >> 20;
  private static final int CHECKPOINTS = 5;
  private static final String READY = "readyMicrobatches";

  private CheckpointBenchmark() {}

  /** {@code [--smoke]}: small pools. */
  public static void main(String[] args) throws Exception {
    Results results = new Results("checkpoint", args);
    for (int microbatches : results.isSmoke() ? new int[] {1, 2} : new int[] {4, 60}) {
      measure(results, microbatches);
    }
    if (!results.isSmoke()) {
      results.atMost("sync_milliseconds_%d_mb".formatted(60 * MEGABYTES_OF_JOB), 10);
    }
    results.write();
  }

  private static void measure(Results results, int microbatches) throws Exception {
    try (TemporaryFolder folder = TemporaryFolder.create();
        EmbeddedCluster cluster = EmbeddedCluster.start(settings(folder.path()), 2, 0)) {
      JobID job = cluster.submit(environment(folder.path(), microbatches).getStreamGraph());
      RestMetrics metrics = new RestMetrics(cluster.webUi(), job);
      while (ready(metrics) < microbatches) {
        Thread.sleep(50);
      }
      FlinkRest rest = new FlinkRest(cluster.webUi(), job);
      FlinkRest.StageCheckpoint[] taken = new FlinkRest.StageCheckpoint[CHECKPOINTS];
      for (int i = 0; i < CHECKPOINTS; i++) {
        taken[i] = rest.checkpoint("pool");
      }
      cluster.cancel(job);
      String suffix = "_%d_mb".formatted(microbatches * MEGABYTES_OF_JOB);
      results.figure(
          "sync_milliseconds" + suffix, median(taken, FlinkRest.StageCheckpoint::syncMillis));
      results.figure(
          "async_milliseconds" + suffix, median(taken, FlinkRest.StageCheckpoint::asyncMillis));
      results.figure("state_megabytes" + suffix, taken[0].bytes() / 1e6);
    }
  }

  private static double ready(RestMetrics metrics) throws InterruptedException {
    try {
      return metrics.sums(List.of(READY)).getOrDefault(READY, 0.0);
    } catch (IOException e) {
      return 0; // nobody answers yet
    }
  }

  private static double median(
      FlinkRest.StageCheckpoint[] taken, ToLongFunction<FlinkRest.StageCheckpoint> figure) {
    return Arrays.stream(taken).mapToLong(figure).sorted().toArray()[CHECKPOINTS / 2];
  }

  private static Configuration settings(Path directory) {
    Configuration settings = new Configuration();
    settings.set(PipelineOptions.OBJECT_REUSE, true);
    settings.set(ExecutionOptions.BUFFER_TIMEOUT, Duration.ZERO);
    settings.set(StateBackendOptions.STATE_BACKEND, "hashmap");
    settings.set(CheckpointingOptions.CHECKPOINT_STORAGE, "filesystem");
    settings.set(CheckpointingOptions.CHECKPOINTS_DIRECTORY, directory.toUri().toString());
    settings.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, Duration.ofDays(1));
    // The REST interface answers from copies of this age.
    settings.set(WebOptions.REFRESH_INTERVAL, Duration.ofMillis(1));
    return settings;
  }

  private static StreamExecutionEnvironment environment(Path directory, int microbatches) {
    StreamExecutionEnvironment env =
        StreamExecutionEnvironment.getExecutionEnvironment(settings(directory));
    env.setParallelism(1);
    PoolSettings pool =
        new PoolSettings(
            microbatches,
            microbatches,
            microbatches + 1,
            Long.MAX_VALUE,
            ReleaseOrder.SEEDED,
            1,
            1,
            new PoolSettings.Run(42, microbatches, 12, 1, 1, 1));
    env.fromSource(
            new DataGeneratorSource<>(
                new Fill(),
                Long.MAX_VALUE,
                readers -> new Until(microbatches * CHUNKS_OF_JOB),
                RecordTypeInfo.HIDDEN_STATE_CHUNK),
            WatermarkStrategy.noWatermarks(),
            "target")
        .slotSharingGroup("target")
        .keyBy(new ShardKeys(1), Types.INT)
        .transform("pool", RecordTypeInfo.DELIVERY, new PoolOperatorFactory(pool))
        .setMaxParallelism(ShardKeys.MAX_PARALLELISM)
        .slotSharingGroup("pool")
        .partitionCustom((drafter, drafters) -> drafter, Delivery::drafter)
        .sinkTo(new DiscardingSink<>());
    return env;
  }

  /** The chunks of one microbatch after the other. */
  private static final class Fill implements GeneratorFunction<Long, HiddenStateChunk> {
    private static final long serialVersionUID = 1L;

    @Override
    public HiddenStateChunk map(Long number) {
      return Chunks.of(
          number / CHUNKS_OF_JOB,
          (int) (number % CHUNKS_OF_JOB),
          CHUNKS_OF_JOB,
          Chunks.DEFAULT_BYTES);
    }
  }

  /** Lets some records pass and then none, while the stream stays open. */
  private static final class Until implements RateLimiter<NumberSequenceSplit> {
    private int left;

    Until(int records) {
      left = records;
    }

    @Override
    public CompletionStage<Void> acquire(int records) {
      left -= records;
      return left >= 0 ? CompletableFuture.completedFuture(null) : new CompletableFuture<>();
    }
  }
}
