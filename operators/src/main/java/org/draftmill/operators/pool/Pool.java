package org.draftmill.operators.pool;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.draftmill.operators.pool.PoolShard.Waiting;
import org.draftmill.serializers.HiddenStateChunk;
import org.draftmill.serializers.StepMarker;

/** The shards of one subtask. Says when input may be held back, and what may be sent. */
final class Pool {

  /** Where the pool sends, and who learns what it holds. */
  interface Outlet {
    /** A shard now holds all of a microbatch. */
    void held(int shard, HeldMicrobatch microbatch);

    /** The microbatch has left the shard; also one that nobody is sent. */
    void released(int shard, HeldMicrobatch microbatch);

    /** The next release of a shard, to one drafter. */
    void send(int drafter, long step, HeldMicrobatch microbatch);

    /** To every drafter. */
    void send(StepMarker marker);
  }

  private final Map<Integer, PoolShard> shards = new TreeMap<>();
  private final Outlet outlet;
  private final boolean alone;
  private Gate gate = Gate.CLOSED;
  private boolean halted;

  /**
   * @param alone whether there is no other subtask, so that the shards here decide when a step
   *     opens
   */
  Pool(Collection<PoolShard> shards, boolean alone, Outlet outlet) {
    shards.forEach(shard -> this.shards.put(shard.shard(), shard));
    this.alone = alone;
    this.outlet = outlet;
  }

  Collection<PoolShard> shards() {
    return shards.values();
  }

  /** Takes a chunk of a shard's job. */
  void add(int shard, HiddenStateChunk chunk) {
    PoolShard owner = shards.get(shard);
    if (owner == null) {
      throw new IllegalStateException(
          "%s of shard %d came to a subtask of the shards %s."
              .formatted(chunk.job(), shard, shards.keySet()));
    }
    HeldMicrobatch whole = owner.add(chunk);
    if (whole != null) {
      outlet.held(shard, whole);
      advance();
    }
  }

  /** The first step that one of the shards still has to release. */
  long step() {
    return shards.values().stream().mapToLong(PoolShard::step).min().orElse(Poll.ENDED);
  }

  boolean isDone() {
    return step() == Poll.ENDED;
  }

  Gate gate() {
    return gate;
  }

  /** Learns how the other subtasks stand, and sends what that sets free. To be called first. */
  void know(Gate newGate) {
    if (!alone) {
      gate = newGate;
    }
    advance();
  }

  /**
   * Sends nothing any more, and takes all that comes: a savepoint was taken at which the run stops.
   * Drafters that went on behind it would wait for others that have ended.
   */
  void halt() {
    halted = true;
  }

  /** The run does not stop after all. */
  void resume() {
    halted = false;
    advance();
  }

  /** Whether {@link #serve} finds something to send once the own step is open. */
  boolean offers() {
    long step = step();
    return !halted
        && shards.values().stream().anyMatch(shard -> shard.step() == step && isAtHand(shard));
  }

  /**
   * Whether input may be held back: a shard is full, and what is released next needs nothing but a
   * drafter that asks, be it here or, when all is released here of the open step, at the others. So
   * no job that this one keeps out is waited for. And no other subtask has sent a barrier that is
   * still in the input, else drafters might wait for what lies behind that barrier instead of
   * asking.
   */
  boolean mayHoldBackInput() {
    return !halted
        && gate.aligned()
        && shards.values().stream().anyMatch(PoolShard::isFull)
        && (isFullShardAtHand() || isOpenStepSupplied());
  }

  private boolean isFullShardAtHand() {
    return shards.values().stream()
        .anyMatch(shard -> shard.isFull() && shard.step() == gate.openStep() && isAtHand(shard));
  }

  private boolean isOpenStepSupplied() {
    return gate.supplied()
        && shards.values().stream()
            .filter(shard -> shard.step() == gate.openStep())
            .allMatch(Pool::isAtHand);
  }

  /**
   * Sends a release of the open step to a drafter.
   *
   * @return false if none is at hand
   */
  boolean serve(Demand demand) {
    if (halted) {
      return false;
    }
    Optional<PoolShard> fullest =
        shards.values().stream()
            .filter(shard -> shard.step() == gate.openStep() && isAtHand(shard))
            .max(Comparator.comparingInt(PoolShard::readyMicrobatches));
    fullest.ifPresent(
        shard -> {
          long step = shard.step();
          HeldMicrobatch microbatch = shard.release();
          outlet.send(demand.drafter(), step, microbatch);
          outlet.released(shard.shard(), microbatch);
          advance();
        });
    return fullest.isPresent();
  }

  /** What keeps this subtask from sending: of its shards in the open step, the nearest to it. */
  Waiting waiting() {
    return shards.values().stream()
        .filter(shard -> shard.step() == gate.openStep())
        .map(PoolShard::waiting)
        .max(Comparator.naturalOrder())
        .orElse(isDone() ? Waiting.NOTHING : Waiting.MARKER);
  }

  /** At the end of the input. */
  void checkComplete() {
    List<Integer> lacking =
        shards.values().stream().filter(shard -> !shard.hasAll()).map(PoolShard::shard).toList();
    if (!lacking.isEmpty()) {
      throw new IllegalStateException(
          "The input of the pool has ended, but jobs of the shards "
              + lacking
              + " never came: the source has another list of jobs than the pool.");
    }
  }

  /** Sends what needs no drafter: markers and tombstones of the open step. */
  private void advance() {
    boolean moved;
    do {
      if (alone) {
        gate = new Gate(step(), true, true);
      }
      moved = false;
      for (PoolShard shard : shards.values()) {
        while (!halted && shard.step() == gate.openStep() && advance(shard)) {
          moved = true;
        }
      }
    } while (moved);
  }

  private boolean advance(PoolShard shard) {
    Waiting waiting = shard.waiting();
    if (waiting == Waiting.MARKER) {
      outlet.send(shard.endStep());
      return true;
    }
    if (waiting == Waiting.DEMAND && shard.next().isTombstone()) {
      outlet.released(shard.shard(), shard.release());
      return true;
    }
    return false;
  }

  private static boolean isAtHand(PoolShard shard) {
    return shard.waiting() == Waiting.DEMAND;
  }
}
