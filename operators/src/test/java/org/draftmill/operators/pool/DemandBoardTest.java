package org.draftmill.operators.pool;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

class DemandBoardTest {

  private final DemandBoard board = new DemandBoard();

  @Nested
  class OneSubtask {

    private final TestingSubtask pool = new TestingSubtask(0);

    OneSubtask() {
      board.expect(1);
    }

    @Test
    void theOldestDemandIsServedFirst() {
      board.ask(2, 0, 1);
      board.ask(0, 0, 1);
      board.ask(2, 0, 2);
      board.ask(1, 0, 1);

      expect(pool.offer(0)).isDemandOf(2);
      expect(pool.serve().offer(0)).isDemandOf(0);
      expect(pool.serve().offer(0)).isDemandOf(2);
      expect(pool.serve().offer(0)).isDemandOf(1);
      expect(pool.serve().offer(0)).isOpen();
    }

    @Test
    void aPollWaitsForTheDemandThatComesLater() {
      TestingAnswer answer = pool.offer(0);
      expect(answer).isOpen();
      board.ask(1, 0, 1);
      expect(answer).isDemandOf(1);
    }

    @Test
    void nothingIsGivenToAPollThatOffersNothing() {
      board.ask(0, 0, 1);
      expect(pool.report(0)).isOpen();
      expect(pool.offer(0)).isDemandOf(0);
    }

    @Test
    void anAnswerThatWasLostLosesNothing() {
      board.ask(0, 0, 1);
      board.ask(1, 0, 1);
      expect(pool.offer(0)).isDemandOf(0);
      expect(pool.offer(0)).isDemandOf(0);
      expect(pool.serve().offer(0)).isDemandOf(1);
    }

    @Test
    void askingAgainChangesNothing() {
      board.ask(0, 0, 1);
      board.ask(0, 0, 1);
      expect(pool.offer(0)).isDemandOf(0);
      board.ask(0, 0, 1);
      expect(pool.serve().offer(0)).isOpen();
      board.ask(0, 0, 1);
      expect(pool.offer(0)).isOpen();
    }

    @Test
    void anotherPollAnswersTheOneBefore() {
      TestingAnswer first = pool.offer(0);
      TestingAnswer second = pool.offer(0);
      expect(first).isNothing();
      expect(second).isOpen();
    }

    @Test
    void aPollThatWasOvertakenIsAnsweredWithNothing() {
      TestingAnswer late = pool.skip();
      expect(pool.offer(0)).isOpen();
      board.ask(0, 0, 1);
      pool.deliver(late);
      expect(late).isNothing();
      expect(pool.offer(0)).isDemandOf(0);
    }

    @Test
    void aPollExpiresBetweenOneAndTwoTicks() {
      TestingAnswer answer = pool.offer(0);
      board.expire();
      expect(answer).isOpen();
      board.expire();
      expect(answer).isNothing();
      board.ask(0, 0, 1);
      expect(pool.offer(0)).isDemandOf(0);
    }

    @Test
    void demandsOfAnOlderAttemptAreVoid() {
      board.ask(0, 0, 7);
      board.ask(0, 1, 1);
      board.ask(0, 0, 8);
      expect(pool.offer(0)).isDemand(new Demand(0, 1, 1));
      expect(pool.serve().offer(0)).isOpen();
    }

    @Test
    void aForgottenDrafterIsServedAgainOnlyInANewAttempt() {
      board.ask(0, 0, 1);
      board.forget(0);
      board.ask(0, 0, 2);
      expect(pool.offer(0)).isOpen();
      board.ask(0, 1, 1);
      expect(pool.offer(0)).isDemand(new Demand(0, 1, 1));
    }

    @Test
    void aDemandOfAForgottenDrafterDoesNotComeBack() {
      board.ask(0, 0, 1);
      expect(pool.offer(0)).isDemandOf(0);
      board.forget(0);
      expect(pool.offer(0)).isOpen();
    }

    @Test
    void aSubtaskThatFailsGivesBackTheDemandAndIsHeardAgainInANewAttempt() {
      board.ask(0, 0, 1);
      expect(pool.offer(0)).isDemandOf(0);
      board.restart(0);
      expect(pool.offer(0)).isNothing();
      expect(pool.nextAttempt().offer(0)).isDemandOf(0);
    }

    @Test
    void aNewAttemptMayComeBeforeTheOldOneIsKnownToHaveFailed() {
      TestingAnswer old = pool.offer(5);
      expect(pool.nextAttempt().offer(3)).isOpen();
      expect(old).isNothing();
    }

    @Test
    void theGateIsToldWhenItIsNotKnown() {
      TestingAnswer answer = pool.knowing(Gate.CLOSED).offer(4);
      expect(answer).isNothing();
      assertThat(answer.gate()).isEqualTo(new Gate(4, true, true));
    }
  }

  @Nested
  class TwoSubtasks {

    private final TestingSubtask first = new TestingSubtask(0);
    private final TestingSubtask second = new TestingSubtask(1);

    TwoSubtasks() {
      board.expect(2);
    }

    @Test
    void nothingIsReleasedBeforeAllWereHeard() {
      board.ask(0, 0, 1);
      expect(first.knowing(Gate.CLOSED).offer(0)).isOpen();
      expect(second.knowing(new Gate(0, true, false)).report(0)).isOpen();
      expect(first.knowing(new Gate(0, true, false)).offer(0)).isDemandOf(0);
    }

    @Test
    void aStepOpensWhenAllHaveReleasedTheOneBefore() {
      first.knowing(new Gate(0, true, false)).report(0);
      second.knowing(new Gate(0, true, false)).report(0);
      board.ask(0, 0, 1);
      TestingAnswer ahead = first.offer(1);
      expect(ahead).isOpen();
      second.knowing(new Gate(1, true, true)).offer(1);
      expect(ahead).isDemandOf(0);
      assertThat(ahead.gate()).isEqualTo(new Gate(1, true, true));
    }

    @Test
    void offersTakeTurns() {
      first.knowing(new Gate(0, true, false)).report(0);
      second.knowing(new Gate(0, true, false)).report(0);
      first.offer(0);
      TestingAnswer one = first.knowing(new Gate(0, true, true)).offer(0);
      expect(one).isNothing(); // the other one has nothing to offer yet
      TestingAnswer two = second.knowing(new Gate(0, true, true)).offer(0);
      one = first.offer(0);
      board.ask(0, 0, 1);
      expect(two).isDemandOf(0);
      second.serve().offer(0);
      board.ask(1, 0, 1);
      expect(one).isDemandOf(1);
    }

    @Test
    void aStepEndedAfterABarrierOpensTheNextOneOnlyWhenAllHaveSentThatBarrier() {
      first.knowing(new Gate(0, true, false)).report(0);
      second.knowing(new Gate(0, true, false)).report(1);
      first.checkpoint(7).report(0);
      assertThat(first.report(1).gateOrKnown().openStep()).isZero();
      TestingAnswer late = second.report(1);
      assertThat(late.gate()).isEqualTo(new Gate(0, false, true));
      expect(second.checkpoint(7).knowing(new Gate(1, true, false)).report(1)).isOpen();
    }

    @Test
    void anAbortedCheckpointHoldsBackNoStepWhenTheOthersKnowIt() {
      first.knowing(new Gate(0, true, true)).report(0);
      second.knowing(new Gate(0, false, true)).report(1);
      first.checkpoint(7).report(0);
      TestingAnswer answer = first.report(1);
      expect(answer).isOpen();
      TestingAnswer behind = second.abort(7).report(1);
      assertThat(answer.gate()).isEqualTo(new Gate(1, true, false));
      assertThat(behind.gate()).isEqualTo(new Gate(1, false, false));
    }

    @Test
    void aSubtaskThatHasReleasedAllHoldsBackNobody() {
      first.knowing(new Gate(3, true, false)).report(3);
      second.knowing(new Gate(3, true, false)).report(3);
      first.report(Poll.ENDED);
      expect(second.checkpoint(8).knowing(new Gate(4, true, false)).report(4)).isOpen();
      expect(second.checkpoint(9).knowing(new Gate(5, true, false)).report(5)).isOpen();
    }

    @Test
    void whoWaitsForTheOthersLearnsWhetherTheyWaitForAJob() {
      first.knowing(Gate.CLOSED).offer(0);
      second.knowing(new Gate(0, true, true)).offer(0);
      TestingAnswer ahead = first.knowing(new Gate(0, true, true)).offer(1);
      expect(ahead).isOpen();
      second.knowing(new Gate(0, true, false)).report(0);
      assertThat(ahead.gate()).isEqualTo(new Gate(0, true, false));
    }

    @Test
    void theGateClosesWhenASubtaskRestarts() {
      first.knowing(new Gate(2, true, false)).report(2);
      TestingAnswer open = second.knowing(new Gate(2, true, false)).report(2);
      board.restart(0);
      assertThat(open.gate()).isEqualTo(Gate.CLOSED);
    }
  }

  private static TestingAnswer.Expectation expect(TestingAnswer answer) {
    return new TestingAnswer.Expectation(answer);
  }

  /** A subtask of the pool that knows the gate as it is in most tests: open at its own step. */
  private final class TestingSubtask {
    private final int subtask;
    private int attempt;
    private long number;
    private long acknowledged = -1;
    private long checkpoint;
    private long aborted = -1;
    private Gate known;

    TestingSubtask(int subtask) {
      this.subtask = subtask;
    }

    TestingSubtask knowing(Gate gate) {
      known = gate;
      return this;
    }

    TestingSubtask serve() {
      acknowledged = number;
      return this;
    }

    TestingSubtask checkpoint(long id) {
      checkpoint = id;
      return this;
    }

    TestingSubtask abort(long id) {
      aborted = id;
      return this;
    }

    TestingSubtask nextAttempt() {
      attempt++;
      number = 0;
      acknowledged = -1;
      return this;
    }

    TestingAnswer offer(long step) {
      return deliver(next(step, true));
    }

    TestingAnswer report(long step) {
      return deliver(next(step, false));
    }

    /** A poll that is under way while the next one overtakes it. */
    TestingAnswer skip() {
      return next(0, true);
    }

    TestingAnswer deliver(TestingAnswer answer) {
      answer.future = board.poll(answer.poll);
      return answer;
    }

    private TestingAnswer next(long step, boolean offers) {
      Gate gate = known == null ? new Gate(step, true, offers) : known;
      return new TestingAnswer(
          new Poll(
              subtask, attempt, ++number, acknowledged, checkpoint, aborted, step, offers, gate));
    }
  }

  private static final class TestingAnswer {
    private final Poll poll;
    private CompletableFuture<Answer> future;

    TestingAnswer(Poll poll) {
      this.poll = poll;
    }

    Gate gate() {
      return future.join().gate();
    }

    Gate gateOrKnown() {
      return future.isDone() ? gate() : poll.known();
    }

    record Expectation(TestingAnswer answer) {
      void isOpen() {
        assertThat(answer.future).isNotDone();
      }

      void isNothing() {
        isDemand(null);
      }

      void isDemand(Demand demand) {
        assertThat(answer.future)
            .isCompletedWithValueMatching(a -> a.demand().equals(Optional.ofNullable(demand)));
      }

      void isDemandOf(int drafter) {
        assertThat(answer.future)
            .isCompletedWithValueMatching(
                a -> a.demand().filter(d -> d.drafter() == drafter).isPresent());
      }
    }
  }
}
