package org.draftmill.operators.drafter.rendezvous;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.operators.coordination.CoordinationRequest;
import org.apache.flink.runtime.operators.coordination.CoordinationRequestHandler;
import org.apache.flink.runtime.operators.coordination.CoordinationResponse;
import org.apache.flink.runtime.operators.coordination.OperatorCoordinator;
import org.apache.flink.runtime.operators.coordination.OperatorEvent;
import org.draftmill.operators.drafter.collective.Membership;
import org.draftmill.operators.pool.DemandBoard;

/**
 * Hands the drafters' demand to the pool and lets the drafters find each other. It has no state:
 * both are asked for again by every execution attempt.
 *
 * <p>All methods are called in the JobManager's main thread; none blocks. A registration is
 * answered within {@link #ANSWER}, with nothing if need be, well inside the RPC's timeout.
 */
public final class DrafterCoordinator implements OperatorCoordinator, CoordinationRequestHandler {
  private static final Duration ANSWER = Duration.ofSeconds(3);

  private final Rendezvous rendezvous;
  private final DemandBoard board;
  private final Duration answer;
  private final int[] attempts; // the newest seen of each subtask

  DrafterCoordinator(int drafters, DemandBoard board) {
    this(drafters, board, ANSWER);
  }

  /**
   * @param answer within this time, to each registration
   */
  DrafterCoordinator(int drafters, DemandBoard board, Duration answer) {
    this.answer = answer;
    this.rendezvous = new Rendezvous(drafters);
    this.board = board;
    attempts = new int[drafters];
    Arrays.fill(attempts, -1);
  }

  /** Makes the coordinator on the JobManager. */
  public record Provider(OperatorID id) implements OperatorCoordinator.Provider {
    private static final long serialVersionUID = 1L;

    @Override
    public OperatorID getOperatorId() {
      return id;
    }

    @Override
    public OperatorCoordinator create(Context context) {
      return new DrafterCoordinator(
          context.currentParallelism(), DemandBoard.of(context.getCoordinatorStore()));
    }
  }

  @Override
  public void handleEventFromOperator(int subtask, int attempt, OperatorEvent event) {
    if (!(event instanceof Ask ask)) {
      throw new IllegalArgumentException("A drafter does not send " + event + ".");
    }
    if (isCurrent(subtask, attempt)) {
      board.ask(subtask, attempt, ask.sequence());
    }
  }

  @Override
  public CompletableFuture<CoordinationResponse> handleCoordinationRequest(
      CoordinationRequest request) {
    if (!(request instanceof Registration registration)) {
      throw new IllegalArgumentException("A drafter does not request " + request + ".");
    }
    CompletableFuture<Optional<Membership>> group =
        rendezvous.register(registration.attempt(), registration.member());
    List<Integer> missing = rendezvous.missing();
    return group
        .completeOnTimeout(Optional.empty(), answer.toMillis(), TimeUnit.MILLISECONDS)
        .thenApply(found -> new GroupAnswer(found, missing).pack());
  }

  @Override
  public void executionAttemptReady(int subtask, int attempt, SubtaskGateway gateway) {
    isCurrent(subtask, attempt);
  }

  @Override
  public void executionAttemptFailed(int subtask, int attempt, Throwable reason) {
    rendezvous.failed(subtask, attempt);
    if (isCurrent(subtask, attempt)) {
      board.forget(subtask);
    }
  }

  @Override
  public void subtaskReset(int subtask, long checkpoint) {
    rendezvous.reset(subtask);
    board.forget(subtask);
  }

  @Override
  public void resetToCheckpoint(long checkpoint, byte[] state) {
    for (int subtask = 0; subtask < attempts.length; subtask++) {
      subtaskReset(subtask, checkpoint);
    }
  }

  @Override
  public void checkpointCoordinator(long checkpoint, CompletableFuture<byte[]> state) {
    state.complete(new byte[0]);
  }

  @Override
  public void notifyCheckpointComplete(long checkpoint) {}

  @Override
  public void start() {}

  @Override
  public void close() {}

  /** Remembers the newest attempt of a subtask; false for one that has a successor. */
  private boolean isCurrent(int subtask, int attempt) {
    attempts[subtask] = Math.max(attempts[subtask], attempt);
    return attempt == attempts[subtask];
  }
}
