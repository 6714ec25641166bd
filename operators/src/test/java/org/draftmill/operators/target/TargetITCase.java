package org.draftmill.operators.target;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.api.common.state.CheckpointListener;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.draftmill.compute.Backends;
import org.draftmill.compute.DType;
import org.draftmill.compute.ops.Backend;
import org.draftmill.compute.target.Forward;
import org.draftmill.compute.target.Taps;
import org.draftmill.compute.target.TargetModel;
import org.draftmill.corpus.TokenizedSequence;
import org.draftmill.corpus.dataset.Dataset;
import org.draftmill.corpus.io.ByteSources;
import org.draftmill.corpus.plan.Job;
import org.draftmill.corpus.plan.JobIterator;
import org.draftmill.corpus.plan.Plan;
import org.draftmill.operators.TestingClusters;
import org.draftmill.operators.jobs.JobSource;
import org.draftmill.serializers.HiddenDType;
import org.draftmill.serializers.HiddenStateChunk;
import org.draftmill.serializers.RecordTypeInfo;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** jobs → target with a real model, against the model itself. */
class TargetITCase {
  private static final int EPOCHS = 2;
  private static final int SEQUENCES = 150;
  private static final int MOST_CHUNKS = 100_000;
  private static final Taps TAPS = Taps.of(0, 2, 4);

  @RegisterExtension
  private static final MiniClusterExtension CLUSTER =
      new MiniClusterExtension(
          new MiniClusterResourceConfiguration.Builder()
              .setConfiguration(TestingClusters.patient())
              .setNumberTaskManagers(2)
              .setNumberSlotsPerTaskManager(2)
              .build());

  @TempDir Path directory;

  @BeforeEach
  void writeDataset() throws Exception {
    TestingModel.write(directory, SEQUENCES, EPOCHS);
  }

  private TargetSettings settings(String chunkSize) {
    Configuration config =
        Configuration.fromMap(
            Map.of(
                "target.model",
                TestingModel.folder().toString(),
                "target.device",
                "reference",
                "target.taps",
                "0,2,4",
                "target.chunk-size",
                chunkSize));
    return TargetSettings.from(
        config,
        new TargetSettings.Run(directory.resolve("dataset").toString(), TAPS.count(), true, 1));
  }

  private static StreamExecutionEnvironment env() {
    Configuration configuration = new Configuration();
    configuration.set(PipelineOptions.GENERIC_TYPES, false);
    configuration.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
    configuration.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, 1);
    return StreamExecutionEnvironment.getExecutionEnvironment(configuration);
  }

  private SingleOutputStreamOperator<HiddenStateChunk> target(
      StreamExecutionEnvironment env, TargetSettings settings) {
    return env.fromSource(
            new JobSource(directory.resolve("plan").toUri().toString()),
            WatermarkStrategy.noWatermarks(),
            "jobs")
        .setParallelism(3)
        .transform("target", RecordTypeInfo.HIDDEN_STATE_CHUNK, new TargetOperatorFactory(settings))
        .setParallelism(3);
  }

  @Test
  void chunksHoldWhatTheModelSays() throws Exception {
    List<HiddenStateChunk> chunks = target(env(), settings("4kb")).executeAndCollect(MOST_CHUNKS);

    assertEqualsModel(chunks);
    assertThat(chunks.stream().mapToInt(HiddenStateChunk::chunks).max().orElseThrow())
        .isGreaterThan(5);
  }

  @Test
  void largeChunksHoldTheSame() throws Exception {
    List<HiddenStateChunk> chunks = target(env(), settings("4mb")).executeAndCollect(MOST_CHUNKS);

    assertEqualsModel(chunks);
    assertThat(chunks).allMatch(chunk -> chunk.chunks() == 1);
  }

  @Test
  void everyJobComesOnceAcrossARestart() throws Exception {
    StreamExecutionEnvironment env = env();
    env.enableCheckpointing(10);
    List<HiddenStateChunk> chunks =
        target(env, settings("4kb"))
            .map(new FailsAfterACheckpoint())
            .returns(RecordTypeInfo.HIDDEN_STATE_CHUNK)
            .setParallelism(1)
            .executeAndCollect(MOST_CHUNKS);

    assertThat(FailsAfterACheckpoint.FAILED).isTrue();
    assertEqualsModel(chunks);
  }

  /** Runs every job of the plan through the model alone and compares all that the stream gave. */
  private void assertEqualsModel(List<HiddenStateChunk> chunks) throws Exception {
    Map<Long, List<HiddenStateChunk>> byJob =
        chunks.stream()
            .collect(
                Collectors.groupingBy(
                    HiddenStateChunk::position, TreeMap::new, Collectors.toList()));
    Dataset dataset = Dataset.open(directory.resolve("dataset"));
    Plan plan = Plan.read(ByteSources.directory(directory.resolve("plan")));
    assertThat((long) byJob.size()).isEqualTo(plan.jobs());
    try (Backend backend = Backends.open("reference", 1);
        TargetModel model = TargetModel.load(TestingModel.folder(), backend)) {
      for (int epoch = 0; epoch < plan.epochs(); epoch++) {
        try (JobIterator jobs = plan.jobList(epoch).iteratorFrom(0)) {
          while (jobs.hasNext()) {
            Job job = jobs.next();
            assertEqualsModel(job, byJob.get(plan.firstJob(epoch) + job.index()), dataset, model);
          }
        }
      }
    }
  }

  private static void assertEqualsModel(
      Job job, List<HiddenStateChunk> chunks, Dataset dataset, TargetModel model)
      throws InterruptedException {
    int rows = job.tokens();
    int[] ids = new int[rows];
    ByteBuffer mask = ByteBuffer.allocate(rows);
    int[] starts = new int[job.sequences().length + 1];
    List<HiddenStateChunk.Document> documents = new ArrayList<>();
    for (int d = 0; d < job.sequences().length; d++) {
      TokenizedSequence sequence = dataset.sequence(job.sequences()[d]);
      System.arraycopy(sequence.inputIds(), 0, ids, starts[d], sequence.length());
      mask.put(sequence.lossMask());
      starts[d + 1] = starts[d] + sequence.length();
      documents.add(
          new HiddenStateChunk.Document(job.sequences()[d], starts[d], sequence.length()));
    }
    ByteBuffer taps = little(rows * TAPS.count() * TestingModel.HIDDEN * 2);
    ByteBuffer finals = little(rows * TestingModel.HIDDEN * 2);
    try (Forward forward = model.forward(ids, starts, TAPS, true)) {
      forward.encodeTaps(0, rows, DType.BF16, taps);
      forward.encodeFinal(0, rows, DType.BF16, finals);
    }
    ByteBuffer expectedIds = little(4 * rows);
    expectedIds.asIntBuffer().put(ids);

    chunks.sort(Comparator.comparingInt(HiddenStateChunk::chunk));
    assertThat(chunks).hasSize(chunks.get(0).chunks());
    assertThat(chunks)
        .allSatisfy(
            chunk -> {
              assertThat(chunk.job().epoch()).isEqualTo(job.epoch());
              assertThat((long) chunk.job().index()).isEqualTo(job.index());
              assertThat(chunk.job().bucket()).isEqualTo(job.bucket());
              assertThat(chunk.dtype()).isEqualTo(HiddenDType.BFLOAT16);
              assertThat(chunk.rowsOfJob()).isEqualTo(rows);
            });
    assertThat(chunks.stream().flatMap(chunk -> chunk.documents().stream()).toList())
        .isEqualTo(documents);
    assertThat(join(chunks, HiddenStateChunk::inputIds)).isEqualTo(expectedIds.array());
    assertThat(join(chunks, HiddenStateChunk::lossMask)).isEqualTo(mask.array());
    assertThat(join(chunks, HiddenStateChunk::taps)).isEqualTo(taps.array());
    assertThat(join(chunks, HiddenStateChunk::finalStates)).isEqualTo(finals.array());
  }

  private static ByteBuffer little(int bytes) {
    return ByteBuffer.allocate(bytes).order(java.nio.ByteOrder.LITTLE_ENDIAN);
  }

  private static byte[] join(
      List<HiddenStateChunk> chunks,
      java.util.function.Function<HiddenStateChunk, ByteBuffer> part) {
    int bytes = chunks.stream().mapToInt(chunk -> part.apply(chunk).remaining()).sum();
    ByteBuffer joined = ByteBuffer.allocate(bytes);
    chunks.forEach(chunk -> joined.put(part.apply(chunk)));
    return joined.array();
  }

  private static final class FailsAfterACheckpoint
      extends RichMapFunction<HiddenStateChunk, HiddenStateChunk> implements CheckpointListener {
    static final AtomicBoolean FAILED = new AtomicBoolean();

    FailsAfterACheckpoint() {
      FAILED.set(false);
    }

    /** There is one at least, after the last record. */
    @Override
    public void notifyCheckpointComplete(long checkpointId) {
      if (FAILED.compareAndSet(false, true)) {
        throw new IllegalStateException("This failure is part of the test.");
      }
    }

    @Override
    public HiddenStateChunk map(HiddenStateChunk chunk) {
      return chunk;
    }
  }
}
