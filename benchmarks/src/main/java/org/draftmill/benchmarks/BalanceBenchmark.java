package org.draftmill.benchmarks;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.NettyShuffleEnvironmentOptions;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.configuration.RpcOptions;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
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
 * rebalance} and adaptive partitioner. Then a quarter of the flow of a real run, in real bytes,
 * through the pool. A drafter's busy share is its own time over the time from the first microbatch
 * to the last of all.
 */
public final class BalanceBenchmark {

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
    Results results = new Results("balance", arguments);
    BalanceScene unequal = BalanceScene.unequal(results.isSmoke() ? 60 : 1_500);
    for (Way way : Way.values()) {
      measure(results, way.name().toLowerCase(Locale.ROOT), way, unequal);
    }
    BalanceScene quarter = BalanceScene.quarter(30);
    measure(results, "quarter", Way.POOL, results.isSmoke() ? quarter.hundredth() : quarter);
    results.atLeast("pool_least_busy", 0.95);
    results.write();
  }

  private static void measure(Results results, String name, Way way, BalanceScene scene)
      throws Exception {
    Map<String, Object> times = run(way, scene);
    double seconds = seconds(times, scene.drafterMillis().length);
    results.figure(name + "_microbatches_per_second", scene.jobs() / seconds);
    double least = 1;
    for (int drafter = 0; drafter < scene.drafterMillis().length; drafter++) {
      double busy = (Long) times.get(BalanceDrafter.BUSY + drafter) * 1e-9 / seconds;
      results.figure("%s_busy_%d_ms".formatted(name, scene.drafterMillis()[drafter]), busy);
      least = Math.min(least, busy);
    }
    results.figure(name + "_least_busy", least);
  }

  private static double seconds(Map<String, Object> times, int drafters) {
    long first = Long.MAX_VALUE;
    long last = Long.MIN_VALUE;
    for (int drafter = 0; drafter < drafters; drafter++) {
      first = Math.min(first, (Long) times.get(BalanceDrafter.FIRST + drafter));
      last = Math.max(last, (Long) times.get(BalanceDrafter.LAST + drafter));
    }
    return (last - first) * 1e-9;
  }

  private static Map<String, Object> run(Way way, BalanceScene scene) throws Exception {
    try (TemporaryFolder folder = TemporaryFolder.create()) {
      Path plan = folder.path().resolve("plan");
      Plans.write(plan, scene.jobs());
      return run(way, scene, plan);
    }
  }

  private static Map<String, Object> run(Way way, BalanceScene scene, Path plan) throws Exception {
    Configuration configuration = new Configuration();
    configuration.set(PipelineOptions.GENERIC_TYPES, false);
    configuration.set(RestOptions.BIND_PORT, "0");
    configuration.set(RpcOptions.ASK_TIMEOUT_DURATION, Duration.ofMinutes(5)); // on a busy machine
    configuration.set(
        NettyShuffleEnvironmentOptions.ADAPTIVE_PARTITIONER_ENABLED, way == Way.ADAPTIVE);
    StreamExecutionEnvironment env =
        StreamExecutionEnvironment.createLocalEnvironment(
            scene.targetMillis().length, configuration);
    env.setBufferTimeout(0);
    DataStream<HiddenStateChunk> chunks =
        env.fromSource(
                new JobSource(plan.toUri().toString()), WatermarkStrategy.noWatermarks(), "jobs")
            .flatMap(new BalanceTarget(scene))
            .returns(RecordTypeInfo.HIDDEN_STATE_CHUNK);
    DataStream<Delivery> deliveries = way == Way.POOL ? pool(chunks, scene) : direct(chunks);
    deliveries
        .transform(
            "drafter",
            Types.VOID,
            new BalanceDrafter.Factory(scene.drafterMillis(), way == Way.POOL))
        .setParallelism(scene.drafterMillis().length)
        .sinkTo(new DiscardingSink<>())
        .setParallelism(scene.drafterMillis().length);
    return env.execute(way.name()).getAllAccumulatorResults();
  }

  private static DataStream<Delivery> pool(
      DataStream<HiddenStateChunk> chunks, BalanceScene scene) {
    PoolSettings settings =
        new PoolSettings(
            10,
            10,
            scene.maxReady(),
            Long.MAX_VALUE,
            ReleaseOrder.SEEDED,
            1,
            1,
            new PoolSettings.Run(42, scene.jobs(), 12, scene.drafterMillis().length, 1, 1));
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
}
