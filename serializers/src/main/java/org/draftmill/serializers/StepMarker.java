package org.draftmill.serializers;

import java.util.List;
import java.util.Objects;

/**
 * Says to every drafter that a shard of the pool has released all it has of a step, and what that
 * was. Immutable, and no POJO on purpose, see {@link HiddenStateChunk}.
 */
public final class StepMarker {
  private final long step;
  private final int shard;
  private final List<Release> releases;

  /**
   * One microbatch of the step, in the order of release.
   *
   * @param tombstone it had no hidden states: no drafter received it, its weight is zero
   */
  public record Release(JobId job, boolean tombstone) {
    public Release {
      Objects.requireNonNull(job);
    }
  }

  private StepMarker(long step, int shard, List<Release> releases) {
    if (step < 0 || shard < 0) {
      throw new IllegalArgumentException(
          "A marker's step %d and shard %d must not be negative.".formatted(step, shard));
    }
    this.step = step;
    this.shard = shard;
    this.releases = List.copyOf(releases);
  }

  public static StepMarker of(long step, int shard, List<Release> releases) {
    return new StepMarker(step, shard, releases);
  }

  /** Optimizer step, from 0. */
  public long step() {
    return step;
  }

  /** Logical pool that has released its share. */
  public int shard() {
    return shard;
  }

  /** The shard's releases of the step in their order; may be empty. */
  public List<Release> releases() {
    return releases;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof StepMarker marker
        && step == marker.step
        && shard == marker.shard
        && releases.equals(marker.releases);
  }

  @Override
  public int hashCode() {
    return Objects.hash(step, shard, releases);
  }

  @Override
  public String toString() {
    return "marker of step " + step + ", shard " + shard + ", " + releases.size() + " releases";
  }
}
