package org.draftmill.operators.pool;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.draftmill.serializers.HiddenStateChunk;
import org.draftmill.serializers.StepMarker;

/**
 * One logical pool: what it holds, what it releases next, and where its steps end.
 *
 * <p>A release is <em>at hand</em> when the microbatch that the policy names is ready and at least
 * {@code min-ready} are (or all that remain, at the end of the list). So {@code min-ready} decides
 * when something is released, never what. The pool is <em>full</em> at {@code max-ready}
 * microbatches or {@code max-memory} bytes; who holds back input only while a full shard has a
 * release at hand never waits for a job that it keeps out itself.
 */
final class PoolShard {

  /** What the next thing that a shard sends waits for. */
  enum Waiting {
    /** Fewer than {@code min-ready} microbatches are ready. */
    MIN_READY,
    /** The job whose turn it is has not arrived. */
    JOB,
    /** Nothing: a drafter may have it, once the step is open. */
    DEMAND,
    /** All of its share of the step is released; the marker goes out, once the step is open. */
    MARKER,
    /** Everything is released. */
    NOTHING
  }

  private final ShardList list;
  private final PoolSettings settings;
  private final ReleasePolicy policy;
  private final NavigableMap<Long, HeldMicrobatch> ready = new TreeMap<>(); // by place
  private final Map<Long, HeldMicrobatch> partial = new HashMap<>();
  private final List<StepMarker.Release> releasedOfStep;
  private final long[] readyOfBucket;
  private long step;
  private long bytes;

  /** An empty shard at the start of its list. */
  PoolShard(int shard, PoolSettings settings) {
    this(
        settings.list(shard),
        settings,
        ReleasePolicy.start(
            settings.release(),
            settings.run().seed(),
            shard,
            settings.window(),
            settings.list(shard).size()),
        0,
        List.of());
  }

  /** A shard as it was, with the microbatches that were ready. */
  PoolShard(ShardState state, PoolSettings settings, Collection<HeldMicrobatch> held) {
    this(
        settings.list(state.shard()),
        settings,
        ReleasePolicy.restore(
            settings.release(),
            settings.run().seed(),
            state.shard(),
            settings.window(),
            settings.list(state.shard()).size(),
            state.released(),
            state.places()),
        state.step(),
        state.releasedOfStep());
    for (HeldMicrobatch microbatch : held) {
      bytes += microbatch.bytes();
      becomeReady(placeOf(microbatch), microbatch);
    }
  }

  private PoolShard(
      ShardList list,
      PoolSettings settings,
      ReleasePolicy policy,
      long step,
      List<StepMarker.Release> releasedOfStep) {
    this.list = list;
    this.settings = settings;
    this.policy = policy;
    this.step = step;
    this.releasedOfStep = new ArrayList<>(releasedOfStep);
    this.readyOfBucket = new long[settings.run().buckets()];
  }

  int shard() {
    return list.shard();
  }

  // ---- coming in

  /**
   * Takes a chunk.
   *
   * @return the microbatch if this was its last chunk, else null
   */
  HeldMicrobatch add(HiddenStateChunk chunk) {
    long place = list.place(chunk.position());
    if (ready.containsKey(place) || policy.isReleased(place)) {
      throw new IllegalStateException("The pool has had all of " + chunk.job() + " already.");
    }
    HeldMicrobatch microbatch = partial.get(place);
    if (microbatch == null) {
      microbatch = new HeldMicrobatch(chunk);
      partial.put(place, microbatch);
    } else {
      microbatch.add(chunk);
    }
    bytes += chunk.sizeInBytes();
    if (!microbatch.isWhole()) {
      return null;
    }
    partial.remove(place);
    becomeReady(place, microbatch);
    return microbatch;
  }

  private void becomeReady(long place, HeldMicrobatch microbatch) {
    ready.put(place, microbatch);
    readyOfBucket[microbatch.job().bucket()]++;
  }

  /** Whether it holds all it should. */
  boolean isFull() {
    return ready.size() >= settings.maxReady() || bytes >= settings.maxMemoryBytes();
  }

  /** Whether all jobs of the list that are not released are ready, as they must be at its end. */
  boolean hasAll() {
    return ready.size() == remaining();
  }

  // ---- going out

  /** The step that this shard is releasing; {@link Poll#ENDED} when all markers are sent. */
  long step() {
    return step < list.steps() ? step : Poll.ENDED;
  }

  /** What the next thing to send waits for. */
  Waiting waiting() {
    if (step() == Poll.ENDED) {
      return Waiting.NOTHING;
    }
    if (policy.released() == list.releasesBefore(step + 1)) {
      return Waiting.MARKER;
    }
    if (ready.size() < Math.min(settings.minReady(), remaining())) {
      return Waiting.MIN_READY;
    }
    return policy.choose(ready.navigableKeySet()) == ReleasePolicy.NONE
        ? Waiting.JOB
        : Waiting.DEMAND;
  }

  /** The next release, which must be at hand. */
  HeldMicrobatch next() {
    return ready.get(policy.choose(ready.navigableKeySet()));
  }

  /** Takes out the next release, which must be at hand. */
  HeldMicrobatch release() {
    if (waiting() != Waiting.DEMAND) {
      throw new IllegalStateException(
          "Shard %d has no release at hand: %s.".formatted(shard(), waiting()));
    }
    HeldMicrobatch next = next();
    long place = placeOf(next);
    policy.release(place);
    ready.remove(place);
    bytes -= next.bytes();
    readyOfBucket[next.job().bucket()]--;
    releasedOfStep.add(new StepMarker.Release(next.job(), next.isTombstone()));
    return next;
  }

  /** Ends the step, of which the whole share must be released. */
  StepMarker endStep() {
    if (waiting() != Waiting.MARKER) {
      throw new IllegalStateException(
          "Shard %d cannot end step %d: %s.".formatted(shard(), step, waiting()));
    }
    StepMarker marker = StepMarker.of(step, shard(), releasedOfStep);
    releasedOfStep.clear();
    step++;
    return marker;
  }

  // ---- state and figures

  /**
   * What is to be kept besides the microbatches that are ready.
   *
   * @throws IllegalStateException if a microbatch is there in part
   */
  ShardState state() {
    if (!partial.isEmpty()) {
      throw new IllegalStateException(
          "At a checkpoint the pool holds parts of "
              + partial.values().stream().map(HeldMicrobatch::job).toList()
              + ": a target sent something else between the chunks of a job.");
    }
    return new ShardState(
        shard(), step, policy.released(), policy.places(), List.copyOf(releasedOfStep));
  }

  int readyMicrobatches() {
    return ready.size();
  }

  long readyOfBucket(int bucket) {
    return readyOfBucket[bucket];
  }

  /** Of all chunks it holds. */
  long bytes() {
    return bytes;
  }

  long released() {
    return policy.released();
  }

  private long remaining() {
    return list.size() - policy.released();
  }

  private long placeOf(HeldMicrobatch microbatch) {
    return list.place(microbatch.job().position());
  }
}
