package org.draftmill.operators.pool;

import java.io.Serializable;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.operators.coordination.OperatorCoordinator;
import org.apache.flink.runtime.operators.coordination.OperatorEvent;
import org.apache.flink.runtime.operators.coordination.OperatorEventGateway;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.runtime.state.StateSnapshotContext;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.AbstractStreamOperatorFactory;
import org.apache.flink.streaming.api.operators.BoundedOneInput;
import org.apache.flink.streaming.api.operators.CoordinatedOperatorFactory;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperatorFactory;
import org.apache.flink.streaming.api.operators.StreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.draftmill.operators.jobs.TestingHold;
import org.draftmill.serializers.Delivery;
import org.draftmill.serializers.HiddenStateChunk;

/**
 * A drafter that asks as the real one does and trains nothing: the work on a microbatch is a number
 * of mails to itself. Tells {@link TestingRecord} what it received, and fails if something of a
 * step to come lies before a barrier.
 */
final class TestingDrafter extends AbstractStreamOperator<Long>
    implements OneInputStreamOperator<Delivery, Long>, BoundedOneInput {

  /** How a drafter works. */
  record Work(int shards, long steps, int[] mails, Failure failure) implements Serializable {}

  /**
   * The failure of a drafter in its first attempt: so many microbatches after a checkpoint that
   * completed while the list of jobs rested, or at the end of its input if that comes first.
   *
   * @param after 0 for never
   * @param hold of the list, which goes on with that checkpoint
   */
  record Failure(int after, TestingHold hold) implements Serializable {
    static final Failure NEVER = new Failure(0, null);

    boolean isToCome() {
      return after > 0;
    }
  }

  record Ask(long sequence) implements OperatorEvent {}

  private final transient Work work;
  private final transient OperatorEventGateway gateway;
  private final transient MailboxExecutor mailbox;
  private final transient Deque<List<HiddenStateChunk>> held = new ArrayDeque<>();
  private final transient Map<Long, Integer> markers = new HashMap<>(); // by step
  private final transient List<Long> trained = new ArrayList<>();
  private transient ListState<Long> trainedState;
  private transient ListState<Long> stepState;
  private transient ListState<Long> markersState; // one entry a marker, the same in all drafters
  private transient List<HiddenStateChunk> arriving = new ArrayList<>();
  private transient int subtask;
  private transient long step;
  private transient long latestStep;
  private transient long asked;
  private transient boolean working;
  private transient int untilFailure; // 0 for none

  private TestingDrafter(StreamOperatorParameters<Long> parameters, Work work) {
    super(parameters);
    this.work = work;
    this.gateway =
        parameters
            .getOperatorEventDispatcher()
            .getOperatorEventGateway(parameters.getStreamConfig().getOperatorID());
    this.mailbox = parameters.getMailboxExecutor();
  }

  @Override
  public void initializeState(StateInitializationContext context) throws Exception {
    super.initializeState(context);
    subtask = getRuntimeContext().getTaskInfo().getIndexOfThisSubtask();
    trainedState =
        context
            .getOperatorStateStore()
            .getListState(new ListStateDescriptor<>("trained", LongSerializer.INSTANCE));
    stepState =
        context
            .getOperatorStateStore()
            .getUnionListState(new ListStateDescriptor<>("step", LongSerializer.INSTANCE));
    markersState =
        context
            .getOperatorStateStore()
            .getUnionListState(new ListStateDescriptor<>("markers", LongSerializer.INSTANCE));
    trainedState.get().forEach(trained::add);
    for (long stepThen : stepState.get()) {
      step = stepThen;
      latestStep = stepThen;
    }
    for (long of : markersState.get()) {
      markers.merge(of, 1, Integer::sum);
    }
  }

  @Override
  public void open() throws Exception {
    super.open();
    ask();
  }

  private void ask() {
    gateway.sendEventToCoordinator(new Ask(++asked));
  }

  @Override
  public void processElement(StreamRecord<Delivery> element) throws Exception {
    Delivery delivery = element.getValue();
    if (delivery.drafter() != subtask || delivery.step() < step) {
      throw new IllegalStateException(
          "Drafter %d at step %d got %s".formatted(subtask, step, delivery));
    }
    if (delivery.isMarker()) {
      TestingRecord.marker(delivery.marker());
      markers.merge(delivery.step(), 1, Integer::sum);
      while (markers.getOrDefault(step, 0) == work.shards()) {
        markers.remove(step++);
      }
      return;
    }
    latestStep = delivery.step();
    arriving.add(delivery.chunk());
    if (arriving.size() == delivery.chunk().chunks()) {
      held.add(arriving);
      arriving = new ArrayList<>();
      startNext();
    }
  }

  private void startNext() {
    if (!working && !held.isEmpty()) {
      working = true;
      ask();
      work(work.mails()[subtask]);
    }
  }

  private void work(int left) {
    try {
      mailbox.execute(() -> tick(left), "work");
    } catch (RejectedExecutionException e) {
      // the job is stopped at a savepoint, which has been taken
    }
  }

  private void tick(int left) {
    if (left > 0) {
      work(left - 1);
      return;
    }
    trained.add(held.remove().get(0).position());
    working = false;
    if (untilFailure > 0 && --untilFailure == 0) {
      fail();
    }
    startNext();
  }

  @Override
  public void prepareSnapshotPreBarrier(long checkpointId) throws Exception {
    finishWhatIsHeld();
    if (latestStep > step) {
      throw new IllegalStateException(
          "At a barrier drafter %d of step %d has a microbatch of step %d"
              .formatted(subtask, step, latestStep));
    }
    TestingRecord.checkpoint(checkpointId, step);
  }

  private void finishWhatIsHeld() throws InterruptedException {
    while (!held.isEmpty()) {
      mailbox.yield();
    }
  }

  @Override
  public void snapshotState(StateSnapshotContext context) throws Exception {
    super.snapshotState(context);
    trainedState.update(trained);
    stepState.update(List.of(step));
    List<Long> seen = new ArrayList<>();
    if (subtask == 0) {
      markers.forEach((of, count) -> seen.addAll(Collections.nCopies(count, of)));
    }
    markersState.update(seen);
  }

  @Override
  public void notifyCheckpointComplete(long checkpointId) {
    boolean first = getRuntimeContext().getTaskInfo().getAttemptNumber() == 0;
    Failure failure = work.failure();
    if (first && failure.isToCome() && subtask == 1 && failure.hold().isReached()) {
      if (untilFailure == 0) {
        untilFailure = failure.after();
      }
      failure.hold().release();
    }
  }

  private static void fail() {
    TestingRecord.failed();
    throw new IllegalStateException("This failure is part of the test.");
  }

  @Override
  public void endInput() throws Exception {
    finishWhatIsHeld();
    if (untilFailure > 0) {
      fail();
    }
    if (step != work.steps() || !arriving.isEmpty()) {
      throw new IllegalStateException(
          "Drafter %d ended at step %d of %d".formatted(subtask, step, work.steps()));
    }
    TestingRecord.finished(subtask, trained);
  }

  /** Makes them. */
  static final class Factory extends AbstractStreamOperatorFactory<Long>
      implements OneInputStreamOperatorFactory<Delivery, Long>, CoordinatedOperatorFactory<Long> {
    private static final long serialVersionUID = 1L;
    private final Work work;

    Factory(Work work) {
      this.work = work;
    }

    @Override
    @SuppressWarnings("unchecked")
    public <T extends StreamOperator<Long>> T createStreamOperator(
        StreamOperatorParameters<Long> parameters) {
      return (T) new TestingDrafter(parameters, work);
    }

    @Override
    @SuppressWarnings("rawtypes")
    public Class<? extends StreamOperator> getStreamOperatorClass(ClassLoader classLoader) {
      return TestingDrafter.class;
    }

    @Override
    public OperatorCoordinator.Provider getCoordinatorProvider(String name, OperatorID id) {
      return new OperatorCoordinator.Provider() {
        private static final long serialVersionUID = 1L;

        @Override
        public OperatorID getOperatorId() {
          return id;
        }

        @Override
        public OperatorCoordinator create(OperatorCoordinator.Context context) {
          return new Coordinator(DemandBoard.of(context.getCoordinatorStore()));
        }
      };
    }
  }

  private record Coordinator(DemandBoard board) implements OperatorCoordinator {

    @Override
    public void start() {}

    @Override
    public void close() {}

    @Override
    public void handleEventFromOperator(int subtask, int attempt, OperatorEvent event) {
      board.ask(subtask, attempt, ((Ask) event).sequence());
    }

    @Override
    public void checkpointCoordinator(long checkpointId, CompletableFuture<byte[]> result) {
      result.complete(new byte[0]);
    }

    @Override
    public void notifyCheckpointComplete(long checkpointId) {}

    @Override
    public void resetToCheckpoint(long checkpointId, byte[] state) {}

    @Override
    public void subtaskReset(int subtask, long checkpointId) {
      board.forget(subtask);
    }

    @Override
    public void executionAttemptFailed(int subtask, int attempt, Throwable reason) {
      board.forget(subtask);
    }

    @Override
    public void executionAttemptReady(int subtask, int attempt, SubtaskGateway gateway) {}
  }
}
