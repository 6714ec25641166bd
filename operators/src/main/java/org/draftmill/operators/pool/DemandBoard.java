package org.draftmill.operators.pool;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.runtime.operators.coordination.CoordinatorStore;

/**
 * Where the coordinators of the drafters and of the pool meet: drafters ask, subtasks of the pool
 * offer, and the oldest demand goes to an offer of the step that is open. Thread-safe.
 *
 * <p><b>Demand.</b> A demand leaves the board when the poll after the one that got it says that it
 * was served. A poll that says otherwise brings it back to its old place, so an answer that was
 * lost loses nothing; an answer to any but the latest poll is void on both sides, so one that comes
 * late changes nothing. Asking again with a sequence that was asked before changes nothing either.
 *
 * <p><b>Steps.</b> A step opens when all subtasks of the pool have released the steps before it.
 * Where there are several, a checkpoint must not fall between: when a subtask ended step {@code s}
 * after the barrier of checkpoint {@code c}, step {@code s + 1} opens only when the others have
 * sent that barrier too, or never will. So in no drafter something of step {@code s + 1} lies
 * before a barrier and the end of step {@code s} behind it.
 */
public final class DemandBoard {

  private static final String KEY = DemandBoard.class.getName();

  private final NavigableMap<Long, Demand> waiting = new TreeMap<>(); // by time of asking
  private final Map<Integer, Asker> drafters = new HashMap<>();
  private final Map<Integer, Member> members = new LinkedHashMap<>(); // by age of their polls
  private final List<Runnable> outbox = new ArrayList<>(); // answers, to be sent outside the lock
  private int subtasks;
  private long asked;

  /** The board of a job, created by whichever coordinator comes first. */
  public static DemandBoard of(CoordinatorStore store) {
    return (DemandBoard)
        store.compute(KEY, (key, board) -> board == null ? new DemandBoard() : board);
  }

  // ---- drafters

  /**
   * Asks for one microbatch.
   *
   * @param drafter index of the drafter's subtask
   * @param attempt its attempt number; the first demand of a newer attempt voids those of older
   *     ones
   * @param sequence rises from demand to demand within an attempt; a known one is a repetition and
   *     changes nothing
   */
  public void ask(int drafter, int attempt, long sequence) {
    change(
        () -> {
          Asker asker = drafters.computeIfAbsent(drafter, d -> new Asker());
          if (attempt > asker.attempt) {
            drop(drafter);
            asker.renew(attempt);
          }
          if (attempt == asker.attempt && asker.live && sequence > asker.sequence) {
            asker.sequence = sequence;
            waiting.put(asked++, new Demand(drafter, attempt, sequence));
          }
        });
  }

  /** Voids all demands of a drafter whose attempt failed or was reset, and what it asks later. */
  public void forget(int drafter) {
    change(
        () -> {
          drop(drafter);
          Asker asker = drafters.get(drafter);
          if (asker != null) {
            asker.live = false;
          }
        });
  }

  // ---- pool

  /** Says how many subtasks the pool has; no step opens before all of them were heard. */
  public void expect(int poolSubtasks) {
    change(() -> subtasks = poolSubtasks);
  }

  /**
   * Waits for a demand. The answer comes when there is one for the release that is offered, when
   * the gate is another than the one the subtask knows, when the subtask polls again, or by {@link
   * #expire}; to a subtask that has released everything it comes at once.
   */
  public CompletableFuture<Answer> poll(Poll poll) {
    CompletableFuture<Answer> answer = new CompletableFuture<>();
    change(
        () -> {
          Member member = members.get(poll.subtask());
          if (member != null && !member.accepts(poll)) {
            answerLater(answer, Answer.nothing(poll.known()));
            return;
          }
          if (member == null) {
            member = new Member();
          } else {
            members.remove(poll.subtask());
          }
          members.put(poll.subtask(), member);
          member.take(poll, answer);
        });
    return answer;
  }

  /** Answers with nothing the polls that were open at the last call already. */
  public void expire() {
    change(
        () -> {
          Standing standing = standing();
          for (Member member : members.values()) {
            if (member.aged) {
              member.answer(Answer.nothing(standing.of(member)));
            }
            member.aged = member.open != null;
          }
        });
  }

  /** Forgets a subtask of the pool whose attempt failed or was reset. */
  public void restart(int subtask) {
    change(
        () -> {
          Member member = members.get(subtask);
          if (member != null) {
            member.stop();
          }
        });
  }

  // ---- matching

  /** Makes a change, matches what can be matched after it, and sends the answers. */
  private void change(Runnable change) {
    List<Runnable> answers;
    synchronized (this) {
      change.run();
      match();
      answers = List.copyOf(outbox);
      outbox.clear();
    }
    answers.forEach(Runnable::run);
  }

  private void match() {
    Standing standing = standing();
    for (Member member : members.values()) {
      if (member.open == null) {
        continue;
      }
      Gate gate = standing.of(member);
      if (member.poll.offers() && member.poll.step() == gate.openStep() && !waiting.isEmpty()) {
        Map.Entry<Long, Demand> oldest = waiting.pollFirstEntry();
        member.place = oldest.getKey();
        member.granted = oldest.getValue();
        member.answer(new Answer(gate, Optional.of(oldest.getValue())));
      } else if (!gate.equals(member.poll.known()) || member.poll.ended()) {
        member.answer(Answer.nothing(gate));
      }
    }
  }

  /**
   * How all subtasks stand together.
   *
   * @param newestBarrier that one of them has sent on
   */
  private record Standing(long openStep, long newestBarrier, boolean supplied) {
    static final Standing UNKNOWN = new Standing(-1, Long.MAX_VALUE, false);

    Gate of(Member member) {
      return new Gate(openStep, newestBarrier <= member.poll.checkpoint(), supplied);
    }
  }

  /** Confirms the steps that count now, and says which one is open. */
  private Standing standing() {
    List<Member> heard = members.values().stream().filter(member -> member.live).toList();
    if (subtasks == 0 || heard.size() < subtasks) {
      return Standing.UNKNOWN;
    }
    long newestBarrier = Long.MIN_VALUE;
    long barrierOfAllOrNone = Long.MAX_VALUE; // that all who send it at all have sent
    for (Member member : heard) {
      newestBarrier = Math.max(newestBarrier, member.poll.checkpoint());
      if (!member.poll.ended()) {
        barrierOfAllOrNone =
            Math.min(barrierOfAllOrNone, Math.max(member.poll.checkpoint(), member.poll.aborted()));
      }
    }
    long openStep = Long.MAX_VALUE;
    for (Member member : heard) {
      if (member.reachedAfter <= barrierOfAllOrNone) {
        member.confirmed = member.reached;
      }
      openStep = Math.min(openStep, member.confirmed);
    }
    long open = openStep;
    boolean supplied =
        heard.stream()
            .filter(member -> member.poll.step() == open)
            .allMatch(member -> member.poll.offers());
    return new Standing(openStep, newestBarrier, supplied);
  }

  private void drop(int drafter) {
    waiting.values().removeIf(demand -> demand.drafter() == drafter);
  }

  private void answerLater(CompletableFuture<Answer> open, Answer answer) {
    outbox.add(() -> open.complete(answer));
  }

  /** What is known of a drafter. */
  private static final class Asker {
    private int attempt = -1;
    private long sequence;
    private boolean live;

    private void renew(int newAttempt) {
      attempt = newAttempt;
      sequence = Long.MIN_VALUE;
      live = true;
    }
  }

  /** What is known of a subtask of the pool. */
  private final class Member {
    private Poll poll; // the latest
    private CompletableFuture<Answer> open; // its answer, null when it is given
    private boolean live;
    private boolean aged;
    private long reached; // the step it has come to,
    private long reachedAfter; // after the barrier of this checkpoint
    private long confirmed; // the step that counts for the others
    private Demand granted; // by the answer to the latest poll, null for none
    private long place; // of the granted demand among the waiting ones

    private boolean accepts(Poll next) {
      return next.attempt() > poll.attempt() || (live && next.isAfter(poll));
    }

    private void take(Poll next, CompletableFuture<Answer> answer) {
      if (poll != null && next.attempt() > poll.attempt()) {
        stop();
      }
      if (live) {
        settleGrant(next.acknowledged() == poll.number());
        answer(Answer.nothing(next.known()));
      } else {
        reached = -1;
        confirmed = -1;
      }
      if (next.step() != reached) {
        reached = next.step();
        reachedAfter = next.checkpoint();
      }
      live = true;
      aged = false;
      poll = next;
      open = answer;
    }

    private void stop() {
      if (live) {
        settleGrant(false);
        answer(Answer.nothing(poll.known()));
      }
      live = false;
    }

    private void settleGrant(boolean served) {
      if (granted == null) {
        return;
      }
      Asker asker = drafters.get(granted.drafter());
      if (!served && asker.live && asker.attempt == granted.attempt()) {
        waiting.put(place, granted);
      }
      granted = null;
    }

    private void answer(Answer answer) {
      if (open != null) {
        answerLater(open, answer);
        open = null;
      }
    }
  }
}
