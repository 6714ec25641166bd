package org.draftmill.operators.drafter;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import org.draftmill.serializers.StepMarker;

/**
 * Brings what a drafter receives into the order of the steps. Each subtask of the pool sends on a
 * channel of its own, so microbatches and markers of later steps may arrive before the last marker
 * of this one: they wait here. Microbatches of the open step go on as they come; the step itself
 * goes on when the markers of all shards are in.
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
  private final int shards;
  private final SortedMap<Long, StepMarker[]> markers = new TreeMap<>(); // by step, then by shard
  private final SortedMap<Long, List<ReceivedMicrobatch>> early = new TreeMap<>(); // by step
  private long step;

  /**
   * @param step the first one to come
   * @param seen markers of that step which came before the checkpoint this run goes on from
   */
  StepInbox(int shards, long step, Collection<StepMarker> seen, Receiver receiver) {
    this.receiver = receiver;
    this.shards = shards;
    this.step = step;
    seen.forEach(this::put);
  }

  void add(ReceivedMicrobatch microbatch) {
    if (microbatch.step() < step) {
      throw new IllegalStateException(
          "The microbatch of %s belongs to step %d, but step %d is open."
              .formatted(microbatch.job(), microbatch.step(), step));
    }
    if (microbatch.step() == step) {
      receiver.train(microbatch);
    } else {
      early.computeIfAbsent(microbatch.step(), later -> new ArrayList<>()).add(microbatch);
    }
  }

  void add(StepMarker marker) {
    put(marker);
    while (seen().size() == shards) {
      receiver.step(step, seen());
      markers.remove(step);
      step++;
      List<ReceivedMicrobatch> due = early.remove(step);
      if (due != null) {
        due.forEach(receiver::train);
      }
    }
  }

  /** The step whose microbatches are received. */
  long openStep() {
    return step;
  }

  /** Markers of the open step that are in, by shard. */
  List<StepMarker> seen() {
    StepMarker[] ofStep = markers.get(step);
    return ofStep == null ? List.of() : Arrays.stream(ofStep).filter(Objects::nonNull).toList();
  }

  /** Microbatches that wait for markers of a step before theirs. */
  int early() {
    return early.values().stream().mapToInt(List::size).sum();
  }

  private void put(StepMarker marker) {
    if (marker.step() < step || marker.shard() >= shards) {
      throw new IllegalStateException(
          "The %s came while step %d of %d shards was open.".formatted(marker, step, shards));
    }
    StepMarker[] ofStep = markers.computeIfAbsent(marker.step(), later -> new StepMarker[shards]);
    if (ofStep[marker.shard()] != null) {
      throw new IllegalStateException("The " + marker + " came twice.");
    }
    ofStep[marker.shard()] = marker;
  }
}
