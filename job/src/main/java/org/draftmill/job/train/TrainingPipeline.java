package org.draftmill.job.train;

import java.time.Duration;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.operators.SlotSharingGroup;
import org.apache.flink.api.common.serialization.SimpleStringEncoder;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.connector.file.sink.FileSink;
import org.apache.flink.core.fs.Path;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.filesystem.OutputFileConfig;
import org.apache.flink.streaming.api.functions.sink.filesystem.bucketassigners.BasePathBucketAssigner;
import org.apache.flink.streaming.api.functions.sink.filesystem.rollingpolicies.OnCheckpointRollingPolicy;
import org.draftmill.job.slots.SlotDemand;
import org.draftmill.operators.drafter.DrafterOperatorFactory;
import org.draftmill.operators.gpu.DeviceLease;
import org.draftmill.operators.gpu.GpuResource;
import org.draftmill.operators.jobs.ExtractionJob;
import org.draftmill.operators.jobs.JobSource;
import org.draftmill.operators.pool.PoolOperatorFactory;
import org.draftmill.operators.pool.ShardKeys;
import org.draftmill.operators.target.DeadLetter;
import org.draftmill.operators.target.DeadLetterLimit;
import org.draftmill.operators.target.TargetOperatorFactory;
import org.draftmill.serializers.Delivery;
import org.draftmill.serializers.HiddenStateChunk;
import org.draftmill.serializers.RecordTypeInfo;

/** The stages of a run, each at its place in the stream. */
public final class TrainingPipeline {
  private final StreamExecutionEnvironment env;
  private final ResolvedRun run;
  private final SlotSharingGroup targetSlots;
  private final SlotSharingGroup poolSlots;
  private final SlotSharingGroup drafterSlots;

  private TrainingPipeline(StreamExecutionEnvironment env, ResolvedRun run, SlotDemand slots) {
    this.env = env;
    this.run = run;
    targetSlots = slots.group(slots.target());
    poolSlots = slots.group(slots.pool());
    drafterSlots = slots.group(slots.drafter());
  }

  /** Adds the whole stream to {@code env}, which {@link FlinkSettings} has made ready. */
  public static void build(StreamExecutionEnvironment env, ResolvedRun run) {
    boolean gpus = GpuResource.perTaskManager(env.getConfiguration()) > 0;
    build(env, run, slots(run, gpus));
  }

  /**
   * Adds the whole stream to {@code env}.
   *
   * @param slots that it asks for
   */
  public static void build(StreamExecutionEnvironment env, ResolvedRun run, SlotDemand slots) {
    new TrainingPipeline(env, run, slots).build();
  }

  private void build() {
    DataStream<ExtractionJob> jobs = jobs();
    SingleOutputStreamOperator<HiddenStateChunk> target = target(jobs);
    DataStream<Delivery> pool = pool(target);
    DataStream<String> drafter = drafter(pool);
    log(drafter);
    deadLetters(target.getSideOutput(DeadLetter.OUTPUT));
  }

  /**
   * Task slots that a run takes: each target, subtask of the pool and drafter has its own.
   *
   * @param gpus whether there are any where it will run
   */
  public static SlotDemand slots(ResolvedRun run, boolean gpus) {
    MemorySize inFlight = new MemorySize(Estimates.inFlightBytes(run));
    return new SlotDemand(
        new SlotDemand.Stage("target", run.targets(), onGpu(run.target().device(), gpus), inFlight),
        new SlotDemand.Stage(
            "pool",
            run.pool().parallelism(),
            false,
            new MemorySize(Estimates.pooledBytes(run) / run.pool().parallelism())),
        new SlotDemand.Stage(
            "drafter",
            run.drafter().parallelism(),
            onGpu(run.drafter().device(), gpus),
            inFlight.add(new MemorySize(Estimates.drafterStateBytes(run)))));
  }

  private static boolean onGpu(String device, boolean gpus) {
    return device.equals(DeviceLease.CUDA) || gpus && DeviceLease.mayTakeGpu(device);
  }

  private DataStream<ExtractionJob> jobs() {
    return env.fromSource(
            new JobSource(run.jobs().plan(), run.wantedJobs(), run.jobs().timeout()),
            WatermarkStrategy.noWatermarks(),
            "jobs",
            TypeInformation.of(ExtractionJob.class))
        .uid("jobs")
        .setDescription("extraction jobs in list order, one at a time to whichever target asks")
        .setParallelism(run.targets())
        .slotSharingGroup(targetSlots);
  }

  private SingleOutputStreamOperator<HiddenStateChunk> target(DataStream<ExtractionJob> jobs) {
    return jobs.transform(
            "target",
            RecordTypeInfo.HIDDEN_STATE_CHUNK,
            new TargetOperatorFactory(run.target()).startWithin(run.drafter().startTimeout()))
        .uid("target")
        .setDescription(
            "the frozen model: hidden states of the tapped layers; back-pressured while the pool has no"
                + " room and there is nothing else to compute")
        .setParallelism(run.targets())
        .slotSharingGroup(targetSlots);
  }

  private DataStream<Delivery> pool(DataStream<HiddenStateChunk> target) {
    return target
        .keyBy(new ShardKeys(run.pool().shards()), Types.INT)
        .transform(
            "pool",
            RecordTypeInfo.DELIVERY,
            new PoolOperatorFactory(run.pool()).startWithin(run.drafter().startTimeout()))
        .uid("pool")
        .setDescription(
            "mixes microbatches and hands one to each drafter that asks; back-pressured while it is full"
                + " and no drafter asks")
        .setParallelism(run.pool().parallelism())
        .setMaxParallelism(ShardKeys.MAX_PARALLELISM)
        .slotSharingGroup(poolSlots);
  }

  private DataStream<String> drafter(DataStream<Delivery> pool) {
    return pool.partitionCustom((drafter, drafters) -> drafter, Delivery::drafter)
        .transform("drafter", Types.STRING, new DrafterOperatorFactory(run.drafter()))
        .uid("drafter")
        .setDescription(
            "trains the draft model, all subtasks together step by step; idle while it waits for a"
                + " microbatch or for the others")
        .setParallelism(run.drafter().parallelism())
        .slotSharingGroup(drafterSlots);
  }

  /** A row a step, visible once a checkpoint holds it: each step stands there exactly once. */
  private void log(DataStream<String> drafter) {
    drafter
        .sinkTo(lines(run.directory().log(), TrainingLog.PREFIX))
        .uid("log")
        .name("log")
        .setDescription("a row a step, in files that a checkpoint completes")
        .setParallelism(1)
        .slotSharingGroup(drafterSlots);
  }

  private void deadLetters(DataStream<DeadLetter> letters) {
    letters
        .flatMap(
            new DeadLetterLimit(run.maxDeadLetters(), run.directory().deadLetters().toString()))
        .uid("dead-letter-limit")
        .name("limit")
        .setDescription(
            "counts the jobs that targets gave up, and fails the run if there are too many")
        .setParallelism(1)
        .slotSharingGroup(poolSlots)
        .map(DeadLetter::toJson)
        .uid("dead-letter-lines")
        .name("lines")
        .setParallelism(1)
        .slotSharingGroup(poolSlots)
        .sinkTo(lines(run.directory().deadLetters(), "dead-letter"))
        .uid("dead-letter")
        .name("dead-letter")
        .setParallelism(1)
        .slotSharingGroup(poolSlots);
  }

  private static FileSink<String> lines(java.nio.file.Path directory, String prefix) {
    return FileSink.<String>forRowFormat(new Path(directory.toUri()), new SimpleStringEncoder<>())
        .withBucketAssigner(new BasePathBucketAssigner<>())
        .withBucketCheckInterval(Duration.ofMinutes(1).toMillis())
        .withRollingPolicy(OnCheckpointRollingPolicy.build())
        .withOutputFileConfig(
            OutputFileConfig.builder()
                .withPartPrefix(prefix)
                .withPartSuffix(TrainingLog.SUFFIX)
                .build())
        .build();
  }
}
