package org.draftmill.operators.drafter;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import org.draftmill.serializers.StepMarker;

/**
 * Brings what a drafter receives into the order of the steps. Each shard marks the end of a step on
 * a channel of its own, so a microbatch of the next step may arrive before the last marker of this
 * one: it waits here. Microbatches of a step go on as they come; the step itself goes on when the
 * markers of all shards are in.
 */
final class StepInbox {
  /** Takes what is in order. */
  interface Receiver {
    void train(ReceivedMicrobatch microbatch);

    /**
     * @param markers of all shards, by shard
     */
    void step(long step, List<StepMarker> markers);
  }

  private final Receiver receiver;
  private final StepMarker[] markers; // of the open step, by shard
  private final Deque<ReceivedMicrobatch> early = new ArrayDeque<>();
  private long step;
  private int missing;

  /**
   * @param step the first one to come
   * @param seen markers of that step which came before the checkpoint this run goes on from
   */
  StepInbox(int shards, long step, Collection<StepMarker> seen, Receiver receiver) {
    this.receiver = receiver;
    this.step = step;
    markers = new StepMarker[shards];
    missing = shards;
    seen.forEach(this::put);
  }

  void add(ReceivedMicrobatch microbatch) {
    if (microbatch.step() == step) {
      receiver.train(microbatch);
    } else if (microbatch.step() == step + 1) {
      early.add(microbatch);
    } else {
      throw new IllegalStateException(
          "The microbatch of %s belongs to step %d, but step %d is open."
              .formatted(microbatch.job(), microbatch.step(), step));
    }
  }

  void add(StepMarker marker) {
    put(marker);
    if (missing > 0) {
      return;
    }
    receiver.step(step, List.of(markers));
    java.util.Arrays.fill(markers, null);
    missing = markers.length;
    step++;
    while (!early.isEmpty()) {
      receiver.train(early.poll());
    }
  }

  /** The step whose microbatches are received. */
  long openStep() {
    return step;
  }

  /** Markers of the open step that are in. */
  List<StepMarker> seen() {
    List<StepMarker> seen = new ArrayList<>();
    for (StepMarker marker : markers) {
      if (marker != null) {
        seen.add(marker);
      }
    }
    return seen;
  }

  /** Microbatches that wait for markers of the step before theirs. */
  int early() {
    return early.size();
  }

  private void put(StepMarker marker) {
    if (marker.step() != step || marker.shard() >= markers.length) {
      throw new IllegalStateException(
          "The %s came while step %d of %d shards was open."
              .formatted(marker, step, markers.length));
    }
    if (markers[marker.shard()] != null) {
      throw new IllegalStateException("The " + marker + " came twice.");
    }
    markers[marker.shard()] = marker;
    missing--;
  }
}
