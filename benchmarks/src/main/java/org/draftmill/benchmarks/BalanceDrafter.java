package org.draftmill.benchmarks;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.apache.flink.api.common.accumulators.LongCounter;
import org.apache.flink.api.common.accumulators.LongMaximum;
import org.apache.flink.api.common.accumulators.LongMinimum;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.operators.coordination.OperatorCoordinator;
import org.apache.flink.runtime.operators.coordination.OperatorEventGateway;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.AbstractStreamOperatorFactory;
import org.apache.flink.streaming.api.operators.BoundedOneInput;
import org.apache.flink.streaming.api.operators.CoordinatedOperatorFactory;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperatorFactory;
import org.apache.flink.streaming.api.operators.StreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.draftmill.operators.drafter.rendezvous.Ask;
import org.draftmill.operators.drafter.rendezvous.DrafterCoordinator;
import org.draftmill.serializers.Delivery;
import org.draftmill.serializers.HiddenStateChunk;

/**
 * A drafter that sleeps as long as training would take: with a pool on a thread of its own, asking
 * for the next microbatch when it starts on one; else in the task's thread, as a function would.
 */
final class BalanceDrafter extends AbstractStreamOperator<Void>
    implements OneInputStreamOperator<Delivery, Void>, BoundedOneInput {
  private static final long serialVersionUID = 1L;

  /** Accumulators, followed by the subtask: nanoseconds slept, and when it began and ended. */
  static final String BUSY = "busy ";

  static final String FIRST = "first ";
  static final String LAST = "last ";

  private static final int END = -1;

  private final int[] millis; // by subtask
  private final OperatorEventGateway coordinator; // null without a pool
  private final BlockingQueue<Integer> received = new LinkedBlockingQueue<>(); // or END
  private final LongCounter busy = new LongCounter();
  private final LongMinimum first = new LongMinimum();
  private final LongMaximum last = new LongMaximum();
  private Thread worker;
  private long asked;

  private BalanceDrafter(
      StreamOperatorParameters<Void> parameters, int[] millis, OperatorEventGateway coordinator) {
    super(parameters);
    this.millis = millis;
    this.coordinator = coordinator;
  }

  @Override
  public void open() throws Exception {
    super.open();
    int subtask = getRuntimeContext().getTaskInfo().getIndexOfThisSubtask();
    getRuntimeContext().addAccumulator(BUSY + subtask, busy);
    getRuntimeContext().addAccumulator(FIRST + subtask, first);
    getRuntimeContext().addAccumulator(LAST + subtask, last);
    if (coordinator != null) {
      ask();
      worker = new Thread(this::work, "drafter " + subtask);
      worker.start();
    }
  }

  private void ask() {
    coordinator.sendEventToCoordinator(new Ask(asked++));
  }

  @Override
  public void processElement(StreamRecord<Delivery> element) throws Exception {
    if (element.getValue().isMarker()) {
      return;
    }
    HiddenStateChunk chunk = element.getValue().chunk();
    if (chunk.chunk() + 1 < chunk.chunks()) {
      return; // the rest of the microbatch follows at once
    }
    int rows = chunk.rows();
    if (coordinator == null) {
      train();
    } else {
      received.add(rows);
    }
  }

  private void work() {
    try {
      while (received.take() != END) {
        ask();
        train();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void train() throws InterruptedException {
    long start = System.nanoTime();
    Thread.sleep(millis[getRuntimeContext().getTaskInfo().getIndexOfThisSubtask()]);
    long end = System.nanoTime();
    first.add(start);
    last.add(end);
    busy.add(end - start);
  }

  @Override
  public void endInput() throws Exception {
    if (worker != null) {
      received.add(END);
      worker.join();
    }
  }

  @Override
  public void close() throws Exception {
    if (worker != null) {
      worker.interrupt();
    }
    super.close();
  }

  /** Makes them. */
  static final class Factory extends AbstractStreamOperatorFactory<Void>
      implements OneInputStreamOperatorFactory<Delivery, Void>, CoordinatedOperatorFactory<Void> {
    private static final long serialVersionUID = 1L;

    private final int[] millis;
    private final boolean asks;

    Factory(int[] millis, boolean asks) {
      this.millis = millis;
      this.asks = asks;
    }

    @Override
    @SuppressWarnings("unchecked")
    public <T extends StreamOperator<Void>> T createStreamOperator(
        StreamOperatorParameters<Void> parameters) {
      OperatorEventGateway coordinator =
          parameters
              .getOperatorEventDispatcher()
              .getOperatorEventGateway(parameters.getStreamConfig().getOperatorID());
      return (T) new BalanceDrafter(parameters, millis, asks ? coordinator : null);
    }

    @Override
    @SuppressWarnings("rawtypes")
    public Class<? extends StreamOperator> getStreamOperatorClass(ClassLoader classLoader) {
      return BalanceDrafter.class;
    }

    @Override
    public OperatorCoordinator.Provider getCoordinatorProvider(String name, OperatorID id) {
      return new DrafterCoordinator.Provider(id);
    }
  }
}
