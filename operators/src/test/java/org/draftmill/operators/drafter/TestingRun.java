package org.draftmill.operators.drafter;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.FlatMapFunction;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.util.Collector;
import org.draftmill.operators.drafter.state.RunIdentity;
import org.draftmill.operators.jobs.TestingHold;
import org.draftmill.operators.pool.PoolOperatorFactory;
import org.draftmill.operators.pool.PoolOptions;
import org.draftmill.operators.pool.PoolSettings;
import org.draftmill.operators.pool.ShardKeys;
import org.draftmill.serializers.Delivery;
import org.draftmill.serializers.HiddenStateChunk;
import org.draftmill.serializers.RecordTypeInfo;

/**
 * A run with made-up hidden states: jobs, the real pool, and drafters of a few thousand weights.
 */
final class TestingRun {
  private static final Map<UUID, Map<Long, String>> ROWS = new ConcurrentHashMap<>();

  final Path directory;
  final long jobs;
  final Configuration options = new Configuration();
  private final Configuration flink = new Configuration();
  private final UUID id = UUID.randomUUID();
  private boolean supervised = true;
  private TestingHold hold = TestingHold.at(Long.MAX_VALUE);
  private MapFunction<String, String> behind = row -> row;
  private DrafterOperatorFactory.TrainerHook hook = (trainer, rank, attempt) -> trainer;

  TestingRun(Path directory, long jobs) throws IOException {
    this.directory = directory;
    this.jobs = jobs;
    ROWS.put(id, new ConcurrentSkipListMap<>());
    TestingTarget.write(directory.resolve("target"));
    options.set(DrafterOptions.DEVICE, "reference");
    options.set(DrafterOptions.LAYERS, 1);
    options.set(DrafterOptions.BLOCK_SIZE, 4);
    options.set(DrafterOptions.ANCHORS, 6);
    options.set(DrafterOptions.ACCUMULATION, 4);
    options.set(DrafterOptions.LEARNING_RATE, 0.01);
    options.set(DrafterOptions.REDUCE_TIMEOUT, Duration.ofMinutes(5));
    options.set(PoolOptions.MIN_READY, 3);
    options.set(PoolOptions.MAX_READY, 6);
    flink.set(PipelineOptions.GENERIC_TYPES, false);
    flink.set(RestartStrategyOptions.RESTART_STRATEGY, "none");
    flink.set(
        CheckpointingOptions.CHECKPOINTS_DIRECTORY,
        directory.resolve("checkpoints").toUri().toString());
  }

  TestingRun drafters(int drafters) {
    options.set(DrafterOptions.PARALLELISM, drafters);
    return this;
  }

  TestingRun shards(int shards, int parallelism) {
    options.set(PoolOptions.SHARDS, shards);
    options.set(PoolOptions.PARALLELISM, parallelism);
    return this;
  }

  TestingRun unsupervised() {
    supervised = false;
    return this;
  }

  TestingRun softLabels() {
    options.set(DrafterOptions.USE_SOFT_LABELS, true);
    options.set(DrafterOptions.KL_WEIGHT, 0.5);
    return this;
  }

  TestingRun hook(DrafterOperatorFactory.TrainerHook around) {
    hook = around;
    return this;
  }

  /** Has the list of jobs rest there. */
  TestingRun hold(TestingHold there) {
    hold = there;
    return this;
  }

  /** Puts {@code after} into the chain of each drafter, behind it. */
  TestingRun afterDrafters(MapFunction<String, String> after) {
    behind = after;
    return this;
  }

  TestingRun checkpoints(Duration interval, int restarts) {
    flink.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, interval);
    flink.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
    flink.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, restarts);
    flink.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, Duration.ZERO);
    return this;
  }

  TestingRun from(String savepoint) {
    flink.set(StateRecoveryOptions.SAVEPOINT_PATH, savepoint);
    return this;
  }

  String stopWithSavepoint(JobClient job) throws Exception {
    return job.stopWithSavepoint(
            false,
            directory.resolve("savepoints").toUri().toString(),
            SavepointFormatType.CANONICAL)
        .get();
  }

  TestingRun execute() throws Exception {
    start().getJobExecutionResult().get();
    return this;
  }

  JobClient start() throws Exception {
    StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(flink);
    env.setBufferTimeout(0);
    PoolSettings pool =
        PoolSettings.from(
            options,
            new PoolSettings.Run(
                42,
                jobs,
                options.get(DrafterOptions.ACCUMULATION),
                options.get(DrafterOptions.PARALLELISM),
                3,
                100_000));
    DrafterSettings drafter = settings();
    env.fromSource(
            hold.on(new NumberSequenceSource(0, jobs - 1), position -> position),
            WatermarkStrategy.noWatermarks(),
            "jobs",
            Types.LONG)
        .setParallelism(1)
        .flatMap(new Chunks(supervised, options.get(DrafterOptions.USE_SOFT_LABELS)))
        .returns(RecordTypeInfo.HIDDEN_STATE_CHUNK)
        .setParallelism(1)
        .keyBy(new ShardKeys(pool.shards()))
        .transform("pool", RecordTypeInfo.DELIVERY, new PoolOperatorFactory(pool))
        .uid("pool")
        .setParallelism(pool.parallelism())
        .setMaxParallelism(ShardKeys.MAX_PARALLELISM)
        .partitionCustom((index, drafters) -> index, Delivery::drafter)
        .transform("drafter", Types.STRING, new DrafterOperatorFactory(drafter, hook))
        .uid("drafter")
        .setParallelism(drafter.parallelism())
        .map(behind)
        .returns(Types.STRING)
        .setParallelism(drafter.parallelism())
        .map(new Rows(id))
        .setParallelism(1)
        .sinkTo(new DiscardingSink<>())
        .setParallelism(1);
    return env.executeAsync();
  }

  DrafterSettings settings() {
    return DrafterSettings.from(
        options,
        new DrafterSettings.Run(
            directory.toString(),
            directory.resolve("target").toString(),
            TestingTarget.TAPS,
            TestingTarget.VOCABULARY - 1,
            42,
            jobs,
            options.get(PoolOptions.SHARDS),
            2,
            new RunIdentity(Map.of("pool.min-ready", "3"))));
  }

  /** Rows of the training log by step; those that were written again count once. */
  List<JsonNode> rows() throws IOException {
    List<JsonNode> rows = new ArrayList<>();
    for (String row : ROWS.get(id).values()) {
      rows.add(new ObjectMapper().readTree(row));
    }
    return rows;
  }

  /** The figures of every step, without the seconds: equal only if the weights always were. */
  List<String> figures() throws IOException {
    return rows().stream()
        .map(
            row ->
                "%s: loss %s, norm %s, jobs %s"
                    .formatted(
                        row.get("step"), row.get("loss"), row.get("grad_norm"), row.get("jobs")))
        .toList();
  }

  Path latest() {
    return directory.resolve("export/latest");
  }

  /** Of the exported weights. */
  String sha256() throws Exception {
    byte[] weights = Files.readAllBytes(latest().resolve("model.safetensors"));
    return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(weights));
  }

  private record Chunks(boolean supervised, boolean finalStates)
      implements FlatMapFunction<Long, HiddenStateChunk> {
    @Override
    public void flatMap(Long position, Collector<HiddenStateChunk> out) {
      TestingDeliveries.chunks(position, supervised, finalStates).forEach(out::collect);
    }
  }

  private record Rows(UUID run) implements MapFunction<String, String> {
    @Override
    public String map(String row) {
      try {
        ROWS.get(run).put(new ObjectMapper().readTree(row).get("step").asLong(), row);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      return row;
    }
  }
}
