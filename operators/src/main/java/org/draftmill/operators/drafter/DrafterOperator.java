package org.draftmill.operators.drafter;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.operators.coordination.OperatorEventGateway;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.runtime.state.StateSnapshotContext;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.BoundedOneInput;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.operators.OperatorSnapshotFutures;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.tasks.ProcessingTimeService;
import org.draftmill.compute.InputException;
import org.draftmill.compute.drafter.DrafterStateFiles;
import org.draftmill.compute.drafter.MicrobatchFigures;
import org.draftmill.operators.busy.TaskTime;
import org.draftmill.operators.drafter.rendezvous.Ask;
import org.draftmill.operators.drafter.state.PendingReference;
import org.draftmill.operators.drafter.state.ReferenceSerializer;
import org.draftmill.operators.drafter.state.SnapshotReference;
import org.draftmill.operators.drafter.state.StateFiles;
import org.draftmill.operators.gpu.DeviceLease;
import org.draftmill.operators.gpu.GpuClaim;
import org.draftmill.operators.restart.Restarts;
import org.draftmill.operators.start.StartClock;
import org.draftmill.serializers.Delivery;
import org.draftmill.serializers.StepMarker;

/**
 * A drafter: takes deliveries, trains on a thread of its own, and emits, at rank 0, a line of the
 * training log for each step.
 *
 * <p>An operator and not a function for the hook before the barrier, in which it finishes what it
 * has; for {@link BoundedOneInput}; for the mailbox, through which its thread's results come back;
 * and for its coordinator.
 */
final class DrafterOperator extends AbstractStreamOperator<String>
    implements OneInputStreamOperator<Delivery, String>, BoundedOneInput {
  private static final long serialVersionUID = 1L;

  private static final ListStateDescriptor<PendingReference> STATE =
      new ListStateDescriptor<>("drafter", ReferenceSerializer.INSTANCE);

  private final DrafterSettings settings;
  private final DrafterOperatorFactory.TrainerHook hook;
  private final MailboxExecutor mailbox;
  private final OperatorEventGateway coordinator;
  private final StartClock startClock;
  private final Queue<StepRow> rows = new ConcurrentLinkedQueue<>();

  private int rank;
  private int size;
  private ListState<PendingReference> state;
  private List<SnapshotReference> restored;
  private StateFiles stateFiles;
  private SnapshotWriter writer;
  private Publisher publisher; // at rank 0, else null
  private LiveLog live;
  private DrafterMetrics drafterMetrics;
  private TaskTime time;
  private DrafterGroup group;
  private DrafterDevice device;
  private MicrobatchAssembler assembler;
  private StepInbox inbox;
  private SkippedSteps skipped;
  private TrainingLoop loop;
  private long asked; // by the loop's thread once it runs
  private CheckpointOptions taking; // how the snapshot is taken that is taken now

  DrafterOperator(
      StreamOperatorParameters<String> parameters,
      DrafterSettings settings,
      DrafterOperatorFactory.TrainerHook hook) {
    super(parameters);
    this.settings = settings;
    this.hook = hook;
    startClock =
        StartClock.of(
            parameters.getContainingTask(),
            "Drafter "
                + parameters
                    .getContainingTask()
                    .getEnvironment()
                    .getTaskInfo()
                    .getIndexOfThisSubtask(),
            settings.startTimeout());
    mailbox = parameters.getMailboxExecutor();
    coordinator =
        parameters
            .getOperatorEventDispatcher()
            .getOperatorEventGateway(parameters.getStreamConfig().getOperatorID());
  }

  // ---- from nothing, or from a checkpoint

  @Override
  public void initializeState(StateInitializationContext context) throws Exception {
    super.initializeState(context);
    state = context.getOperatorStateStore().getUnionListState(STATE);
    restored = new ArrayList<>();
    for (PendingReference reference : state.get()) {
      restored.add(reference.get());
    }
  }

  @Override
  public void open() throws Exception {
    super.open();
    try {
      start();
    } catch (InputException e) {
      throw Restarts.judge(e);
    }
  }

  private void start() throws Exception {
    rank = getRuntimeContext().getTaskInfo().getIndexOfThisSubtask();
    size = getRuntimeContext().getTaskInfo().getNumberOfParallelSubtasks();
    String name = "drafter " + rank;
    Path directory = settings.directory();
    stateFiles = new StateFiles(directory);
    writer = new SnapshotWriter(name, stateFiles);
    drafterMetrics = new DrafterMetrics(getMetricGroup());
    time =
        new TaskTime(
            getContainingTask().getEnvironment().getMetricGroup().getIOMetricGroup(), mailbox);
    time.start();
    if (rank == 0) {
      live = new LiveLog(directory);
      publisher =
          new Publisher(
              name, stateFiles, settings, getContainingTask().getEnvironment().getJobID());
    }
    startClock.at("opening its device and loading " + settings.run().target());
    DeviceLease lease = DeviceLease.take(settings.device(), GpuClaim.of(getRuntimeContext()));
    device = DrafterDevice.open(settings, lease, rank, size);
    drafterMetrics.measure(device::deviceSeconds);
    startClock.at("reading the drafters' states");
    List<StepMarker> markers = restore();
    startClock.at("opening its port");
    assembler =
        new MicrobatchAssembler(
            device.config().tapColumns(),
            settings.training().loss().useSoftLabels() ? device.config().hiddenSize() : 0);
    group = DrafterGroup.open(getContainingTask().getEnvironment(), getOperatorID(), settings);
    getContainingTask().getCancelables().registerCloseable(group);
    int attempt = getRuntimeContext().getTaskInfo().getAttemptNumber();
    Trainer trainer = hook.around(device, rank, attempt);
    skipped =
        new SkippedSteps(
            settings.maxSkippedSteps(), restored.isEmpty() ? 0 : restored.get(0).skipped());
    loop = new TrainingLoop(name, trainer, group, new LoopListener(), settings.timeout(), skipped);
    inbox = new StepInbox(settings.run().shards(), device.step(), markers, loop);
    watch();
    startClock.close();
    ask();
    loop.start();
  }

  /** Goes on from the checkpoint, if there is one; gives the markers of the open step. */
  private List<StepMarker> restore() throws Exception {
    if (restored.isEmpty()) {
      return List.of();
    }
    SnapshotReference first = restored.get(0);
    settings.identity().requireSameAs(first.identity());
    List<Path> paths = stateFiles.resolve(restored);
    for (SnapshotReference reference : restored) {
      if (reference.rank() % size == rank) {
        stateFiles.verify(reference);
      }
    }
    try (DrafterStateFiles files = DrafterStateFiles.open(paths)) {
      device.restore(files);
    }
    LOG.info("{} goes on at step {}.", getOperatorName(), device.step());
    return first.markers();
  }

  /** A thread that hangs cannot say so itself. */
  private void watch() {
    Duration period = settings.timeout().dividedBy(4);
    ProcessingTimeService.ProcessingTimeCallback callback =
        time -> {
          loop.check();
          loop.checkProgress();
        };
    getProcessingTimeService()
        .scheduleWithFixedDelay(callback, period.toMillis(), period.toMillis());
  }

  // ---- the stream

  @Override
  public void processElement(StreamRecord<Delivery> element) throws Exception {
    loop.check();
    Delivery delivery = element.getValue();
    if (delivery.drafter() != rank) {
      throw new IllegalStateException(
          "Drafter %d received what is meant %s.".formatted(rank, delivery));
    }
    if (delivery.isMarker()) {
      inbox.add(delivery.marker());
    } else {
      assembler.add(delivery).ifPresent(inbox::add);
    }
  }

  @Override
  public void endInput() throws Exception {
    finishWhatIsHere();
    if (device.step() < settings.totalSteps()) {
      LOG.warn(
          "The input ended at step {} of {}: the run was drained before its end.",
          device.step(),
          settings.totalSteps());
    }
  }

  /** Exports the final weights; should the job fail after this, it will come to the same ones. */
  @Override
  public void finish() throws Exception {
    if (publisher != null) {
      publisher.publishNow(device);
      LOG.info(
          "The drafter has taken {} of {} steps; sha256 of its weights: {}.",
          device.step(),
          settings.totalSteps(),
          device.weightsSha256());
    }
    super.finish();
  }

  private void finishWhatIsHere() throws Exception {
    loop.drain();
    emitRows();
    if (!assembler.incomplete().isEmpty() || inbox.early() > 0) {
      throw new IllegalStateException(
          "At a barrier or at the end, chunks of %s are missing and %d microbatches wait for markers of step %d."
              .formatted(assembler.incomplete(), inbox.early(), inbox.openStep()));
    }
  }

  private void emitRows() {
    for (StepRow row = rows.poll(); row != null; row = rows.poll()) {
      output.collect(new StreamRecord<>(row.toJson()));
    }
  }

  /** Thread-safe: an event is a message. */
  private void ask() {
    coordinator.sendEventToCoordinator(new Ask(asked++));
  }

  // ---- checkpoints

  /** What is here came before the barrier, on every drafter: so this needs nothing behind it. */
  @Override
  public void prepareSnapshotPreBarrier(long checkpoint) throws Exception {
    super.prepareSnapshotPreBarrier(checkpoint);
    finishWhatIsHere();
  }

  @Override
  public OperatorSnapshotFutures snapshotState(
      long checkpoint, long timestamp, CheckpointOptions options, CheckpointStreamFactory storage)
      throws Exception {
    taking = options;
    return super.snapshotState(checkpoint, timestamp, options, storage);
  }

  @Override
  public void snapshotState(StateSnapshotContext context) throws Exception {
    super.snapshotState(context);
    StateFiles.Snapshot snapshot =
        new StateFiles.Snapshot(
            context.getCheckpointId(),
            taking.getCheckpointType().isSavepoint(),
            device.step(),
            group.token(),
            size);
    state.update(
        List.of(
            writer.write(
                snapshot, device.snapshot(), skipped.found(), inbox.seen(), settings.identity())));
    if (publisher != null) {
      publisher.taken(snapshot, taking.getTargetLocation());
    }
  }

  @Override
  public void notifyCheckpointComplete(long checkpoint) throws Exception {
    super.notifyCheckpointComplete(checkpoint);
    writer.settled(checkpoint);
    if (publisher != null) {
      publisher.completed(checkpoint);
    }
  }

  @Override
  public void notifyCheckpointAborted(long checkpoint) throws Exception {
    super.notifyCheckpointAborted(checkpoint);
    writer.settled(checkpoint);
  }

  // ---- the end

  @Override
  public void close() throws Exception {
    boolean orderly = !getContainingTask().isCanceled() && !getContainingTask().isFailing();
    Shutdown shutdown = new Shutdown();
    shutdown.run(startClock::close);
    if (group != null) {
      shutdown.run(group::close);
      getContainingTask().getCancelables().unregisterCloseable(group);
    }
    if (loop != null) {
      shutdown.run(loop::close);
      // A thread that hangs still computes there: what it uses must not be freed under it.
      shutdown.run(() -> loop.afterwards(device::close));
    } else if (device != null) {
      shutdown.run(device::close);
    }
    if (group != null) {
      shutdown.run(group::release);
    }
    if (publisher != null) {
      shutdown.run(() -> publisher.close(orderly));
    }
    if (writer != null) {
      shutdown.run(writer::close);
    }
    shutdown.run(super::close);
    shutdown.finish();
  }

  /** Every part is closed, whatever happens to the others; the first failure is thrown. */
  private static final class Shutdown {
    private Exception failure;

    void run(org.apache.flink.util.function.ThrowingRunnable<Exception> part) {
      try {
        part.run();
      } catch (Exception e) {
        failure = org.apache.flink.util.ExceptionUtils.firstOrSuppressed(e, failure);
      }
    }

    void finish() throws Exception {
      if (failure != null) {
        throw failure;
      }
    }
  }

  /** What the loop's thread reports. */
  private final class LoopListener implements TrainingLoop.Listener {
    @Override
    public void started(ReceivedMicrobatch microbatch) {
      ask();
    }

    @Override
    public void trained(MicrobatchFigures figures) {
      drafterMetrics.trained(figures);
    }

    @Override
    public void computing(boolean now) {
      time.working(now);
    }

    @Override
    public void stepped(StepReport report) {
      drafterMetrics.stepped(report);
      if (rank == 0) {
        StepRow row = new StepRow(report, settings.accumulation());
        live.append(row);
        rows.add(row);
        mail(DrafterOperator.this::emitRows, "emit training log");
      }
    }

    @Override
    public void failed(Throwable failure) {
      mail(loop::check, "fail");
    }

    private void mail(
        org.apache.flink.util.function.ThrowingRunnable<? extends Exception> work, String what) {
      try {
        mailbox.execute(work, what);
      } catch (RejectedExecutionException e) {
        LOG.debug("The task has ended: nothing to {}.", what);
      }
    }
  }
}
