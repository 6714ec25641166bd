package org.draftmill.operators.pool;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.flink.runtime.operators.coordination.CoordinationRequest;
import org.apache.flink.runtime.operators.coordination.CoordinationRequestHandler;
import org.apache.flink.runtime.operators.coordination.CoordinationResponse;
import org.apache.flink.runtime.operators.coordination.OperatorCoordinator;
import org.apache.flink.runtime.operators.coordination.OperatorEvent;
import org.apache.flink.util.concurrent.ExecutorThreadFactory;

/**
 * Brings the long polls of the pool's subtasks to the {@link DemandBoard}. Demand is soft state,
 * asked for again after a restart, so checkpoints hold nothing of it.
 */
final class PoolCoordinator implements OperatorCoordinator, CoordinationRequestHandler {

  /** A poll is answered after one to two of these, well within {@code pekko.ask.timeout}. */
  private static final long TICK_MILLIS = 1_500;

  private final Context context;
  private final DemandBoard board;
  private ScheduledExecutorService timer;

  PoolCoordinator(Context context) {
    this.context = context;
    this.board = DemandBoard.of(context.getCoordinatorStore());
  }

  @Override
  public void start() {
    board.expect(context.currentParallelism());
    timer =
        Executors.newSingleThreadScheduledExecutor(new ExecutorThreadFactory("pool-coordinator"));
    timer.scheduleWithFixedDelay(board::expire, TICK_MILLIS, TICK_MILLIS, TimeUnit.MILLISECONDS);
  }

  @Override
  public void close() {
    if (timer != null) {
      timer.shutdownNow();
    }
  }

  @Override
  public CompletableFuture<CoordinationResponse> handleCoordinationRequest(
      CoordinationRequest request) {
    return board.poll((Poll) request).thenApply(Answer::toResponse);
  }

  @Override
  public void handleEventFromOperator(int subtask, int attempt, OperatorEvent event) {
    throw new UnsupportedOperationException("The pool sends no events, but this came: " + event);
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
    board.restart(subtask);
  }

  @Override
  public void executionAttemptFailed(int subtask, int attempt, Throwable reason) {
    board.restart(subtask);
  }

  @Override
  public void executionAttemptReady(int subtask, int attempt, SubtaskGateway gateway) {}
}
