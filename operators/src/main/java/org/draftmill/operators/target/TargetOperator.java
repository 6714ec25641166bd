package org.draftmill.operators.target;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.flink.api.common.TaskInfo;
import org.apache.flink.api.common.accumulators.DoubleCounter;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.typeutils.base.array.BytePrimitiveArraySerializer;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.runtime.state.StateSnapshotContext;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.BoundedOneInput;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.api.operators.util.SimpleVersionedListState;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.util.IOUtils;
import org.apache.flink.util.function.ThrowingRunnable;
import org.draftmill.operators.busy.TaskTime;
import org.draftmill.operators.gpu.DeviceLease;
import org.draftmill.operators.gpu.GpuClaim;
import org.draftmill.operators.jobs.ExtractionJob;
import org.draftmill.operators.jobs.ExtractionJobSerializer;
import org.draftmill.operators.restart.Restarts;
import org.draftmill.operators.start.StartClock;
import org.draftmill.serializers.HiddenStateChunk;

/**
 * One target. An operator for the mailbox (the pipeline's threads hand over through it) and for
 * {@code endInput}.
 *
 * <p>{@code processElement} returns when there is room for one job more. The jobs inside are the
 * state; after a restore they are done first. All chunks of a job leave in one mail, so no barrier
 * falls between them.
 */
final class TargetOperator extends AbstractStreamOperator<HiddenStateChunk>
    implements OneInputStreamOperator<ExtractionJob, HiddenStateChunk>, BoundedOneInput {
  private static final long serialVersionUID = 1L;

  private static final ListStateDescriptor<byte[]> JOBS =
      new ListStateDescriptor<>("jobs-in-flight", BytePrimitiveArraySerializer.INSTANCE);

  private final transient MailboxExecutor mailbox;
  private final transient TargetSettings settings;
  private final transient HiddenStateExtractor.Factory extractors;
  private final transient StartClock start;

  private final transient Queue<ExtractionJob> waiting = new ArrayDeque<>();
  private final transient Queue<ExtractionJob> inPipeline = new ArrayDeque<>();
  private transient ListState<ExtractionJob> state;
  private transient TargetPipeline pipeline;
  private transient PipelineActivity activity;
  private transient TargetMetrics figures;
  private transient TaskTime time;
  private final transient DoubleCounter busySeconds = new DoubleCounter();
  private final transient DoubleCounter tokens = new DoubleCounter();

  TargetOperator(
      StreamOperatorParameters<HiddenStateChunk> parameters,
      TargetSettings settings,
      HiddenStateExtractor.Factory extractors,
      Duration startTimeout) {
    super(parameters);
    start =
        StartClock.of(
            parameters.getContainingTask(),
            "Target " + subtask(parameters.getContainingTask().getEnvironment().getTaskInfo()),
            startTimeout);
    this.mailbox = parameters.getMailboxExecutor();
    this.settings = settings;
    this.extractors = extractors;
  }

  @Override
  public void initializeState(StateInitializationContext context) throws Exception {
    super.initializeState(context);
    state =
        new SimpleVersionedListState<>(
            context.getOperatorStateStore().getListState(JOBS), new ExtractionJobSerializer());
    List<ExtractionJob> restored = new ArrayList<>();
    state.get().forEach(restored::add);
    restored.sort(Comparator.comparingLong(ExtractionJob::position));
    waiting.addAll(restored);
  }

  @Override
  public void open() throws Exception {
    super.open();
    start.at("opening its device and loading " + settings.model());
    time =
        new TaskTime(
            getContainingTask().getEnvironment().getMetricGroup().getIOMetricGroup(), mailbox);
    activity = new PipelineActivity(System::nanoTime, time::working);
    figures = new TargetMetrics(getMetricGroup(), activity);
    getRuntimeContext().addAccumulator(TargetOperatorFactory.BUSY_SECONDS, busySeconds);
    getRuntimeContext().addAccumulator(TargetOperatorFactory.TOKENS, tokens);
    HiddenStateExtractor extractor = openExtractor();
    figures.measure(extractor::deviceSeconds);
    pipeline =
        new TargetPipeline(
            extractor,
            new ChunkPacker(settings.chunkBytes(), settings.hiddenDtype()),
            settings.retries(),
            activity,
            new ToMailbox(),
            subtask());
    watch();
    start.close();
    fillPipeline();
  }

  private HiddenStateExtractor openExtractor() throws Exception {
    try {
      DeviceLease lease = DeviceLease.take(settings.device(), GpuClaim.of(getRuntimeContext()));
      return LeasedExtractor.open(extractors, settings, lease);
    } catch (RuntimeException e) {
      throw asFailureOfTheTask(e);
    }
  }

  private String subtask() {
    return subtask(getRuntimeContext().getTaskInfo());
  }

  private static String subtask(TaskInfo task) {
    return "(%d/%d)"
        .formatted(task.getIndexOfThisSubtask() + 1, task.getNumberOfParallelSubtasks());
  }

  /** Looks regularly for work that hangs; the check comes as a mail, also while this one yields. */
  private void watch() {
    long period = Math.max(1, settings.timeout().toMillis() / 4);
    getProcessingTimeService().scheduleWithFixedDelay(time -> failIfStuck(), period, period);
  }

  private void failIfStuck() {
    PipelineActivity.Running longest = activity.longest().orElse(null);
    if (longest != null && longest.nanos() > settings.timeout().toNanos()) {
      throw new IllegalStateException(
          "Target %s hangs: %s of %s has lasted %d s, longer than %s allows."
              .formatted(
                  subtask(),
                  longest.part().label(),
                  longest.job(),
                  TimeUnit.NANOSECONDS.toSeconds(longest.nanos()),
                  TargetOptions.TIMEOUT.key()));
    }
  }

  @Override
  public void processElement(StreamRecord<ExtractionJob> element) throws Exception {
    time.start();
    waiting.add(element.getValue());
    fillPipeline();
    while (inPipeline.size() == TargetPipeline.DEPTH) {
      mailbox.yield();
    }
  }

  @Override
  public void endInput() throws Exception {
    while (!inPipeline.isEmpty()) {
      mailbox.yield();
    }
    busySeconds.add(activity.busySeconds());
    tokens.add(figures.tokens());
  }

  private void fillPipeline() {
    while (inPipeline.size() < TargetPipeline.DEPTH && !waiting.isEmpty()) {
      ExtractionJob job = waiting.remove();
      inPipeline.add(job);
      pipeline.submit(job);
    }
  }

  private void emit(JobResult result) {
    time.emit(() -> collect(result));
    figures.done(result);
    inPipeline.remove();
    fillPipeline();
  }

  private void collect(JobResult result) {
    for (HiddenStateChunk chunk : result.chunks()) {
      output.collect(new StreamRecord<>(chunk));
    }
    result
        .deadLetter()
        .ifPresent(letter -> output.collect(DeadLetter.OUTPUT, new StreamRecord<>(letter)));
  }

  @Override
  public void snapshotState(StateSnapshotContext context) throws Exception {
    super.snapshotState(context);
    state.update(Stream.concat(inPipeline.stream(), waiting.stream()).toList());
  }

  @Override
  public void close() throws Exception {
    IOUtils.closeAll(start, pipeline, super::close);
  }

  /** Hands over what the pipeline's threads tell. */
  private final class ToMailbox implements TargetPipeline.Listener {
    @Override
    public void done(JobResult result) {
      send(() -> emit(result));
    }

    @Override
    public void failed(Throwable failure) {
      send(
          () -> {
            throw asFailureOfTheTask(failure);
          });
    }

    private void send(ThrowingRunnable<Exception> action) {
      try {
        mailbox.execute(action, "target %s", subtask());
      } catch (RejectedExecutionException e) {
        LOG.debug("The task ends; what its target still did is dropped.", e);
      }
    }
  }

  private Exception asFailureOfTheTask(Throwable failure) {
    if (Restarts.arePointless(failure)) {
      return new SuppressRestartsException(failure);
    }
    return new IllegalStateException("Target " + subtask() + " failed.", failure);
  }
}
