package org.draftmill.operators.pool;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.draftmill.serializers.StepMarker;

/** What the drafters of the running test saw; across restarts the same must be seen again. */
final class TestingRecord {
  private static final Map<Integer, SortedMap<Long, StepMarker>> MARKERS = new TreeMap<>();
  private static final Map<Long, Long> STEPS = new TreeMap<>(); // by checkpoint
  private static final Map<Integer, List<Long>> TRAINED = new TreeMap<>(); // by drafter

  private static int failures;

  private TestingRecord() {}

  static synchronized void clear() {
    MARKERS.clear();
    STEPS.clear();
    TRAINED.clear();
    failures = 0;
  }

  static synchronized void marker(StepMarker marker) {
    StepMarker other =
        MARKERS
            .computeIfAbsent(marker.shard(), shard -> new TreeMap<>())
            .putIfAbsent(marker.step(), marker);
    if (other != null && !other.equals(marker)) {
      throw new IllegalStateException(
          "%s is not %s".formatted(marker.releases(), other.releases()));
    }
  }

  static synchronized void checkpoint(long checkpoint, long step) {
    Long other = STEPS.putIfAbsent(checkpoint, step);
    if (other != null && other != step) {
      throw new IllegalStateException(
          "At checkpoint %d drafters stand at the steps %d and %d"
              .formatted(checkpoint, other, step));
    }
  }

  static synchronized void finished(int drafter, List<Long> positions) {
    TRAINED.put(drafter, List.copyOf(positions));
  }

  /** Steps that all shards have ended. */
  static synchronized long steps(int shards) {
    return MARKERS.size() < shards
        ? 0
        : MARKERS.values().stream().mapToLong(SortedMap::size).min().orElse(0);
  }

  static synchronized void failed() {
    failures++;
  }

  static synchronized int failures() {
    return failures;
  }

  static synchronized int checkpoints() {
    return STEPS.size();
  }

  /** Positions in the order of release. */
  static synchronized List<Long> released(int shard) {
    List<Long> positions = new ArrayList<>();
    MARKERS
        .getOrDefault(shard, new TreeMap<>())
        .values()
        .forEach(
            marker ->
                marker.releases().forEach(release -> positions.add(release.job().position())));
    return positions;
  }

  /** By drafter. */
  static synchronized Map<Integer, List<Long>> trained() {
    return new TreeMap<>(TRAINED);
  }
}
