package org.draftmill.operators.pool;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import org.apache.flink.api.common.TaskInfo;
import org.apache.flink.api.common.accumulators.DoubleCounter;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.base.ListSerializer;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.api.common.typeutils.base.array.BytePrimitiveArraySerializer;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.checkpoint.SavepointType;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.apache.flink.runtime.metrics.TimerGauge;
import org.apache.flink.runtime.operators.coordination.CoordinationResponse;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.runtime.state.StateSnapshotContext;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.BoundedOneInput;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.operators.OperatorSnapshotFutures;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.util.ExceptionUtils;
import org.apache.flink.util.FlinkRuntimeException;
import org.apache.flink.util.IOUtils;
import org.apache.flink.util.SerializedValue;
import org.draftmill.operators.start.StartClock;
import org.draftmill.serializers.Delivery;
import org.draftmill.serializers.HiddenStateChunk;
import org.draftmill.serializers.HiddenStateChunkSerializer;
import org.draftmill.serializers.StepMarker;

/**
 * Holds the shards whose keys are this subtask's, and sends their microbatches to the drafters that
 * ask. What it does when is decided by {@link Pool} and {@link DemandLine}.
 *
 * <p>An operator of its own, since it holds back input by yielding to the mailbox (the answers to
 * its polls arrive there), drains at the end of the input, and tells the other subtasks when it
 * sends a barrier on.
 *
 * <p>Keyed state of each shard: its ready microbatches, kept as they come and go (chunks are
 * immutable, so a snapshot takes references only), and its {@link ShardState}, written at each
 * checkpoint.
 */
final class PoolOperator extends AbstractStreamOperator<Delivery>
    implements OneInputStreamOperator<HiddenStateChunk, Delivery>, BoundedOneInput, Pool.Outlet {
  private static final long serialVersionUID = 1L;

  private final transient PoolSettings settings;
  private final transient ShardKeys keys;
  private final transient MailboxExecutor mailbox;
  private final transient StartClock start;
  private transient MapState<Long, List<HiddenStateChunk>> microbatches; // by position
  private transient ValueState<byte[]> shardState;
  private transient Pool pool;
  private transient DemandLine line;
  private transient PoolMetrics figures;
  private transient long stoppingAt; // the savepoint that ends the run, 0 before
  private transient TimerGauge backPressure; // of the task, as Flink shows it
  private final transient DoubleCounter minReadyStallSeconds = new DoubleCounter();

  PoolOperator(
      StreamOperatorParameters<Delivery> parameters, PoolSettings settings, Duration startTimeout) {
    super(parameters);
    TaskInfo task = parameters.getContainingTask().getEnvironment().getTaskInfo();
    start =
        StartClock.of(
            parameters.getContainingTask(),
            "Pool (%d/%d)"
                .formatted(task.getIndexOfThisSubtask() + 1, task.getNumberOfParallelSubtasks()),
            startTimeout);
    this.settings = settings;
    this.keys = new ShardKeys(settings.shards());
    this.mailbox = parameters.getMailboxExecutor();
  }

  // ---- life

  @Override
  public void initializeState(StateInitializationContext context) throws Exception {
    super.initializeState(context);
    microbatches =
        context
            .getKeyedStateStore()
            .getMapState(
                new MapStateDescriptor<>(
                    "microbatches",
                    LongSerializer.INSTANCE,
                    new ListSerializer<>(HiddenStateChunkSerializer.INSTANCE)));
    shardState =
        context
            .getKeyedStateStore()
            .getState(new ValueStateDescriptor<>("shard", BytePrimitiveArraySerializer.INSTANCE));
    int subtask = getRuntimeContext().getTaskInfo().getIndexOfThisSubtask();
    int parallelism = getRuntimeContext().getTaskInfo().getNumberOfParallelSubtasks();
    List<PoolShard> shards = new ArrayList<>();
    for (int shard = 0; shard < settings.shards(); shard++) {
      if (keys.subtask(shard, parallelism) == subtask) {
        shards.add(
            context.isRestored() ? restoredOrRefused(shard) : new PoolShard(shard, settings));
      }
    }
    boolean alone = parallelism == 1;
    pool = new Pool(shards, alone, this);
    line =
        new DemandLine(
            subtask,
            getRuntimeContext().getTaskInfo().getAttemptNumber(),
            context.getRestoredCheckpointId().orElse(0),
            alone,
            pool,
            this::poll);
    figures = new PoolMetrics(pool, settings, getMetricGroup());
    backPressure =
        getContainingTask()
            .getEnvironment()
            .getMetricGroup()
            .getIOMetricGroup()
            .getSoftBackPressuredTimePerSecond();
  }

  /** Other options than the checkpoint's stay so: such a failure is not worth a restart. */
  private PoolShard restoredOrRefused(int shard) throws Exception {
    try {
      return restored(shard);
    } catch (IllegalConfigurationException e) {
      throw new SuppressRestartsException(e);
    }
  }

  private PoolShard restored(int shard) throws Exception {
    setCurrentKey(keys.key(shard));
    byte[] state = shardState.value();
    if (state == null) {
      throw new IllegalConfigurationException(
          "The checkpoint has no state of shard %d of the pool: was it written with another %s?"
              .formatted(shard, PoolOptions.SHARDS.key()));
    }
    List<HeldMicrobatch> held = new ArrayList<>();
    for (List<HiddenStateChunk> chunks : microbatches.values()) {
      held.add(new HeldMicrobatch(chunks));
    }
    return new PoolShard(ShardStateFormat.read(state, settings), settings, held);
  }

  @Override
  public void open() throws Exception {
    super.open();
    getRuntimeContext()
        .addAccumulator(PoolOperatorFactory.MIN_READY_STALL_SECONDS, minReadyStallSeconds);
    pool.know(Gate.CLOSED);
    changed();
    start.close();
  }

  @Override
  public void close() throws Exception {
    IOUtils.closeAll(start, super::close);
  }

  @Override
  public void processElement(StreamRecord<HiddenStateChunk> element) throws Exception {
    HiddenStateChunk chunk = element.getValue();
    pool.add(keys.shard(chunk.position()), chunk);
    changed();
    waitWhile(pool::mayHoldBackInput);
  }

  @Override
  public void endInput() throws Exception {
    pool.checkComplete();
    waitWhile(() -> !line.isClosed());
    minReadyStallSeconds.add(figures.minReadyStallSeconds());
  }

  /**
   * Waits for mails. The waiting counts as back pressure, which it is, and not as being busy; what
   * the answers to polls make it send does not, see {@link #answered}.
   */
  private void waitWhile(BooleanSupplier condition) throws InterruptedException {
    while (condition.getAsBoolean()) {
      backPressure.markStart();
      mailbox.yield();
    }
    backPressure.markEnd();
  }

  // ---- checkpoints

  @Override
  public void prepareSnapshotPreBarrier(long checkpointId) throws Exception {
    super.prepareSnapshotPreBarrier(checkpointId);
    line.barrier(checkpointId);
  }

  @Override
  public void notifyCheckpointAborted(long checkpointId) throws Exception {
    super.notifyCheckpointAborted(checkpointId);
    if (checkpointId == stoppingAt) {
      pool.resume();
    }
    line.abort(checkpointId);
  }

  @Override
  public OperatorSnapshotFutures snapshotState(
      long checkpointId, long timestamp, CheckpointOptions options, CheckpointStreamFactory storage)
      throws Exception {
    if (options.getCheckpointType() instanceof SavepointType type && type.isSynchronous()) {
      stoppingAt = checkpointId;
      pool.halt();
    }
    return super.snapshotState(checkpointId, timestamp, options, storage);
  }

  @Override
  public void snapshotState(StateSnapshotContext context) throws Exception {
    super.snapshotState(context);
    for (PoolShard shard : pool.shards()) {
      setCurrentKey(keys.key(shard.shard()));
      shardState.update(ShardStateFormat.write(shard.state(), settings));
    }
  }

  // ---- demand

  /** Sends a poll; the answer comes as a mail of this operator, so also while it yields. */
  private void poll(Poll poll) {
    try {
      getContainingTask()
          .getEnvironment()
          .getOperatorCoordinatorEventGateway()
          .sendRequestToCoordinator(getOperatorID(), new SerializedValue<>(poll))
          .whenComplete((response, failure) -> answerByMail(poll, response, failure));
    } catch (IOException e) {
      throw new FlinkRuntimeException("Cannot serialize " + poll, e);
    }
  }

  private void answerByMail(Poll poll, CoordinationResponse response, Throwable failure) {
    try {
      mailbox.execute(() -> answered(poll, response, failure), "answer to the pool's poll");
    } catch (RejectedExecutionException e) {
      // the task has ended
    }
  }

  private void answered(Poll poll, CoordinationResponse response, Throwable failure)
      throws Exception {
    backPressure.markEnd();
    if (failure == null) {
      line.answered(poll, Answer.from(response));
    } else if (ExceptionUtils.findThrowable(failure, TimeoutException.class).isPresent()) {
      line.lost(poll);
    } else {
      throw new FlinkRuntimeException("The pool cannot reach its coordinator", failure);
    }
    changed();
  }

  private void changed() {
    line.update();
    figures.update();
  }

  // ---- what the pool says

  @Override
  public void held(int shard, HeldMicrobatch microbatch) {
    setCurrentKey(keys.key(shard));
    try {
      microbatches.put(microbatch.job().position(), microbatch.chunks());
    } catch (Exception e) {
      throw new FlinkRuntimeException("Cannot keep " + microbatch.job(), e);
    }
  }

  @Override
  public void released(int shard, HeldMicrobatch microbatch) {
    figures.released();
    setCurrentKey(keys.key(shard));
    try {
      microbatches.remove(microbatch.job().position());
    } catch (Exception e) {
      throw new FlinkRuntimeException("Cannot drop " + microbatch.job(), e);
    }
  }

  @Override
  public void send(int drafter, long step, HeldMicrobatch microbatch) {
    for (HiddenStateChunk chunk : microbatch.chunks()) {
      output.collect(new StreamRecord<>(Delivery.of(drafter, step, chunk)));
    }
  }

  @Override
  public void send(StepMarker marker) {
    for (int drafter = 0; drafter < settings.run().drafters(); drafter++) {
      output.collect(new StreamRecord<>(Delivery.of(drafter, marker)));
    }
  }
}
