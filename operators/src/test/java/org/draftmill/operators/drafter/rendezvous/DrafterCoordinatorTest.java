package org.draftmill.operators.drafter.rendezvous;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.runtime.operators.coordination.CoordinationResponse;
import org.draftmill.operators.drafter.collective.Membership.Member;
import org.draftmill.operators.pool.Answer;
import org.draftmill.operators.pool.DemandBoard;
import org.draftmill.operators.pool.Gate;
import org.draftmill.operators.pool.Poll;
import org.junit.jupiter.api.Test;

class DrafterCoordinatorTest {
  private final DemandBoard board = new DemandBoard();
  private final DrafterCoordinator coordinator = new DrafterCoordinator(2, board);
  private long polls;

  DrafterCoordinatorTest() {
    board.expect(1);
  }

  /** The pool offers a release of step 0; the last demand given, if any, has been served. */
  private CompletableFuture<Answer> offer() {
    polls++;
    return board.poll(new Poll(0, 0, polls, polls - 1, 0, -1, 0, true, new Gate(0, true, true)));
  }

  @Test
  void demandReachesThePool() {
    coordinator.handleEventFromOperator(1, 0, new Ask(0));
    assertThat(offer().join().demand().orElseThrow().drafter()).isEqualTo(1);
    assertThat(offer()).isNotDone();
  }

  @Test
  void aFailedAttemptsDemandIsVoid() {
    coordinator.handleEventFromOperator(1, 0, new Ask(0));
    coordinator.executionAttemptFailed(1, 0, new IllegalStateException());
    coordinator.subtaskReset(1, 4);
    CompletableFuture<Answer> open = offer();
    assertThat(open).isNotDone();
    coordinator.handleEventFromOperator(1, 0, new Ask(1));
    assertThat(open).as("a late demand of the failed attempt").isNotDone();
    coordinator.handleEventFromOperator(1, 1, new Ask(0));
    assertThat(open.join().demand().orElseThrow().attempt()).isEqualTo(1);
  }

  @Test
  void lateNewsOfAnOldAttemptDoNotHurtItsSuccessor() {
    coordinator.executionAttemptReady(1, 1, null);
    coordinator.handleEventFromOperator(1, 1, new Ask(0));
    coordinator.executionAttemptFailed(1, 0, new IllegalStateException());
    coordinator.handleEventFromOperator(1, 0, new Ask(7));
    assertThat(offer().join().demand().orElseThrow().attempt()).isEqualTo(1);
  }

  @Test
  void registrationsAreAnsweredInTimeWhoeverIsMissing() throws Exception {
    DrafterCoordinator hasty = new DrafterCoordinator(2, board, Duration.ofMillis(1));
    assertThat(GroupAnswer.unpack(register(hasty, 0).get()))
        .as("who is missing, after a while")
        .isEqualTo(new GroupAnswer(Optional.empty(), List.of(1)));
    assertThat(GroupAnswer.unpack(register(hasty, 1).join()).group()).isPresent();
    assertThat(GroupAnswer.unpack(register(hasty, 0).join()).group()).isPresent();
  }

  @Test
  void aRegistrationIsAnsweredAsSoonAsNobodyIsMissing() throws Exception {
    DrafterCoordinator patient = new DrafterCoordinator(2, board, Duration.ofHours(1));
    CompletableFuture<CoordinationResponse> first = register(patient, 0);
    assertThat(first).isNotDone();
    assertThat(GroupAnswer.unpack(register(patient, 1).join()).group()).isPresent();
    assertThat(GroupAnswer.unpack(first.join()).group()).isPresent();
  }

  private static CompletableFuture<CoordinationResponse> register(
      DrafterCoordinator coordinator, int rank) {
    return coordinator.handleCoordinationRequest(
        new Registration(0, new Member(rank, "host", 1, UUID.randomUUID())));
  }

  @Test
  void whatDraftersDoNotSayIsRefused() {
    assertThatThrownBy(
            () ->
                coordinator.handleCoordinationRequest(
                    new Poll(0, 0, 1, 0, 0, -1, 0, true, Gate.CLOSED)))
        .hasMessageContaining("A drafter does not request Poll");
  }
}
