package org.draftmill.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.NettyShuffleEnvironmentOptions;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.util.FileUtils;
import org.draftmill.corpus.Fingerprint;
import org.draftmill.corpus.plan.BucketBounds;
import org.draftmill.corpus.plan.Oversized;
import org.draftmill.corpus.plan.PlanInput;
import org.draftmill.corpus.plan.PlanOptions;
import org.draftmill.corpus.plan.PlanWriter;
import org.draftmill.operators.jobs.JobSource;
import org.draftmill.operators.pool.PoolOperatorFactory;
import org.draftmill.operators.pool.PoolSettings;
import org.draftmill.operators.pool.ReleaseOrder;
import org.draftmill.operators.pool.ShardKeys;
import org.draftmill.serializers.Delivery;
import org.draftmill.serializers.HiddenStateChunk;
import org.draftmill.serializers.RecordTypeInfo;

/**
 * Do fast drafters get what slow ones leave? Five targets of unequal speed feed three drafters that
 * need 5, 20 and 60 ms a microbatch (they sleep): through the pool, and through Flink's {@code
 * rebalance} and adaptive partitioner. A drafter's busy share is its own time over the time from
 * the first microbatch to the last of all.
 */
public final class BalanceBenchmark {
  private static final int[] TARGET_MILLIS = {2, 3, 4, 6, 50};
  private static final int[] DRAFTER_MILLIS = {5, 20, 60};
  private static final int TOKENS_OF_JOB = 8;

  private enum Way {
    POOL,
    REBALANCE,
    ADAPTIVE
  }

  private BalanceBenchmark() {}

  /**
   * @param arguments {@code --smoke} for a short run
   */
  public static void main(String[] arguments) throws Exception {
    int jobs = List.of(arguments).contains("--smoke") ? 150 : 1_500;
    Results results = new Results("balance", System.out);
    for (Way way : Way.values()) {
      String name = way.name().toLowerCase(Locale.ROOT);
      Map<String, Object> times = run(way, jobs);
      double seconds = seconds(times);
      results.figure(name + "_microbatches_per_second", jobs / seconds);
      double least = 1;
      for (int drafter = 0; drafter < DRAFTER_MILLIS.length; drafter++) {
        double busy = (Long) times.get(BalanceDrafter.BUSY + drafter) * 1e-9 / seconds;
        results.figure("%s_busy_%d_ms".formatted(name, DRAFTER_MILLIS[drafter]), busy);
        least = Math.min(least, busy);
      }
      results.figure(name + "_least_busy", least);
    }
    results.atLeast("pool_least_busy", 0.95);
    results.write(Path.of("benchmarks", "results"));
  }

  private static double seconds(Map<String, Object> times) {
    long first = Long.MAX_VALUE;
    long last = Long.MIN_VALUE;
    for (int drafter = 0; drafter < DRAFTER_MILLIS.length; drafter++) {
      first = Math.min(first, (Long) times.get(BalanceDrafter.FIRST + drafter));
      last = Math.max(last, (Long) times.get(BalanceDrafter.LAST + drafter));
    }
    return (last - first) * 1e-9;
  }

  private static Map<String, Object> run(Way way, int jobs) throws Exception {
    Path folder = Files.createTempDirectory("draftmill-balance");
    try {
      return run(way, jobs, plan(folder.resolve("plan"), jobs));
    } finally {
      FileUtils.deleteDirectory(folder.toFile());
    }
  }

  private static Map<String, Object> run(Way way, int jobs, Path plan) throws Exception {
    Configuration configuration = new Configuration();
    configuration.set(PipelineOptions.GENERIC_TYPES, false);
    configuration.set(RestOptions.BIND_PORT, "0");
    configuration.set(
        NettyShuffleEnvironmentOptions.ADAPTIVE_PARTITIONER_ENABLED, way == Way.ADAPTIVE);
    StreamExecutionEnvironment env =
        StreamExecutionEnvironment.createLocalEnvironment(TARGET_MILLIS.length, configuration);
    env.setBufferTimeout(0);
    DataStream<HiddenStateChunk> chunks =
        env.fromSource(
                new JobSource(plan.toUri().toString()), WatermarkStrategy.noWatermarks(), "jobs")
            .map(new BalanceTarget(TARGET_MILLIS))
            .returns(RecordTypeInfo.HIDDEN_STATE_CHUNK);
    DataStream<Delivery> deliveries = way == Way.POOL ? pool(chunks, jobs) : direct(chunks);
    deliveries
        .transform(
            "drafter", Types.VOID, new BalanceDrafter.Factory(DRAFTER_MILLIS, way == Way.POOL))
        .setParallelism(DRAFTER_MILLIS.length)
        .sinkTo(new DiscardingSink<>())
        .setParallelism(DRAFTER_MILLIS.length);
    return env.execute(way.name()).getAllAccumulatorResults();
  }

  private static DataStream<Delivery> pool(DataStream<HiddenStateChunk> chunks, int jobs) {
    PoolSettings settings =
        new PoolSettings(
            10,
            10,
            60,
            Long.MAX_VALUE,
            ReleaseOrder.SEEDED,
            1,
            1,
            new PoolSettings.Run(42, jobs, 12, DRAFTER_MILLIS.length, 1, 1));
    return chunks
        .keyBy(new ShardKeys(1), Types.INT)
        .transform("pool", RecordTypeInfo.DELIVERY, new PoolOperatorFactory(settings))
        .setParallelism(1)
        .setMaxParallelism(ShardKeys.MAX_PARALLELISM)
        .partitionCustom((drafter, drafters) -> drafter, Delivery::drafter);
  }

  /** Without a pool: Flink says who gets what. */
  private static DataStream<Delivery> direct(DataStream<HiddenStateChunk> chunks) {
    return chunks
        .map(chunk -> Delivery.of(0, 0, chunk))
        .returns(RecordTypeInfo.DELIVERY)
        .rebalance();
  }

  private static Path plan(Path directory, int jobs) throws IOException {
    int[] lengths = new int[jobs];
    Arrays.fill(lengths, TOKENS_OF_JOB);
    PlanInput input =
        new PlanInput(
            Fingerprint.of(new byte[Fingerprint.BYTES]),
            lengths,
            (long) TOKENS_OF_JOB * jobs,
            id -> TOKENS_OF_JOB);
    PlanOptions options =
        new PlanOptions(42, 1, TOKENS_OF_JOB, new BucketBounds(List.of(16)), Oversized.OWN_JOB);
    PlanWriter.write(input, options, directory);
    return directory;
  }
}
