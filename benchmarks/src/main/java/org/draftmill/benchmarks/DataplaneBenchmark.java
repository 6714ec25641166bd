package org.draftmill.benchmarks;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.Locale;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ExecutionOptions;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.connector.datagen.source.GeneratorFunction;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.draftmill.job.embedded.EmbeddedCluster;
import org.draftmill.operators.jobs.ExtractionJob;
import org.draftmill.operators.jobs.JobSource;
import org.draftmill.operators.pool.ShardKeys;
import org.draftmill.serializers.HiddenStateChunk;
import org.draftmill.serializers.RecordTypeInfo;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/**
 * How fast hidden states and jobs move: chunks through their serializers, chunks from one stage of
 * an embedded Flink to the next, jobs from the list to the targets.
 */
public final class DataplaneBenchmark {
  private static final int TARGETS = 4;

  private final Results results;
  private final boolean smoke;

  private DataplaneBenchmark(Results results) {
    this.results = results;
    this.smoke = results.isSmoke();
  }

  /** {@code [--smoke]}: a hundredth of the records. */
  public static void main(String[] args) throws Exception {
    DataplaneBenchmark benchmark = new DataplaneBenchmark(new Results("dataplane", args));
    benchmark.serializers();
    benchmark.pipeline(4);
    benchmark.pipeline(8);
    benchmark.jobs();
    benchmark.results.write();
  }

  private void serializers() throws Exception {
    OptionsBuilder options = new OptionsBuilder();
    options
        .include(ChunkSerialization.class.getName())
        .jvmArgs(optionsWithoutModules())
        .forks(smoke ? 0 : 1)
        .warmupIterations(1)
        .measurementIterations(smoke ? 1 : 3)
        .warmupTime(TimeValue.milliseconds(smoke ? 10 : 1_000))
        .measurementTime(TimeValue.milliseconds(smoke ? 10 : 1_000))
        .verbosity(VerboseMode.SILENT);
    Collection<RunResult> runs = new Runner(options.build()).run();
    for (RunResult run : runs) {
      String way = run.getParams().getParam("way").toLowerCase(Locale.ROOT);
      double chunks = run.getPrimaryResult().getScore();
      results.figure(
          "serializer_%s_%s_gb_per_second".formatted(way, run.getPrimaryResult().getLabel()),
          chunks * Chunks.of(0, 0, 1, Chunks.DEFAULT_BYTES).sizeInBytes() / 1e9);
    }
  }

  /** No vectors here, and no warning of them among the figures. */
  private static String[] optionsWithoutModules() {
    return ChildJvm.options().stream()
        .filter(option -> !option.startsWith("--add-modules"))
        .toArray(String[]::new);
  }

  /** From one stage to the next inside one TaskManager, through the pool's key. */
  private void pipeline(int megabytes) throws Exception {
    int bytes = megabytes << 20;
    long chunks = (smoke ? 40L : 4_000L) / megabytes;
    StreamExecutionEnvironment env = environment();
    env.fromSource(
            new DataGeneratorSource<>(
                new SameChunk(bytes), chunks, RecordTypeInfo.HIDDEN_STATE_CHUNK),
            WatermarkStrategy.noWatermarks(),
            "chunks")
        .setParallelism(1)
        .slotSharingGroup("first")
        .keyBy(new ShardKeys(1), Types.INT)
        .flatMap(new Meter<>(HiddenStateChunk::sizeInBytes))
        .returns(Types.VOID)
        .setParallelism(1)
        .slotSharingGroup("second")
        .sinkTo(new DiscardingSink<>())
        .setParallelism(1);
    results.figure(
        "pipeline_%d_mb_chunks_gb_per_second".formatted(megabytes), perSecond(env, 2) / 1e9);
  }

  private void jobs() throws Exception {
    try (TemporaryFolder folder = TemporaryFolder.create()) {
      Path plan = folder.path().resolve("plan");
      Plans.write(plan, smoke ? 300 : 30_000);
      StreamExecutionEnvironment env = environment();
      env.fromSource(
              new JobSource(plan.toUri().toString()),
              WatermarkStrategy.noWatermarks(),
              "jobs",
              TypeInformation.of(ExtractionJob.class))
          .setParallelism(TARGETS)
          .flatMap(new Meter<>(job -> 1))
          .returns(Types.VOID)
          .setParallelism(TARGETS)
          .sinkTo(new DiscardingSink<>())
          .setParallelism(TARGETS);
      results.figure("jobs_per_second_%d_targets".formatted(TARGETS), perSecond(env, TARGETS));
    }
  }

  private static StreamExecutionEnvironment environment() {
    Configuration settings = new Configuration();
    settings.set(PipelineOptions.OBJECT_REUSE, true);
    settings.set(ExecutionOptions.BUFFER_TIMEOUT, Duration.ZERO);
    return StreamExecutionEnvironment.getExecutionEnvironment(settings);
  }

  private static double perSecond(StreamExecutionEnvironment env, int slots) throws Exception {
    try (EmbeddedCluster cluster = EmbeddedCluster.start(new Configuration(), slots, 0)) {
      return Meter.perSecond(cluster.execute(env.getStreamGraph()));
    }
  }

  /** One chunk, again and again: making it costs nothing. */
  private static final class SameChunk implements GeneratorFunction<Long, HiddenStateChunk> {
    private static final long serialVersionUID = 1L;

    private final int bytes;
    private transient HiddenStateChunk chunk;

    SameChunk(int bytes) {
      this.bytes = bytes;
    }

    @Override
    public void open(SourceReaderContext context) {
      chunk = Chunks.of(0, 0, 1, bytes);
    }

    @Override
    public HiddenStateChunk map(Long number) {
      return chunk;
    }
  }
}
