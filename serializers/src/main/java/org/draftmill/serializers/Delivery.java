package org.draftmill.serializers;

import java.util.Objects;

/**
 * What the pool sends to one drafter: a chunk of a microbatch it asked for, or the marker of a
 * step. Exactly one of {@link #chunk()} and {@link #marker()} is there. Immutable, and no POJO on
 * purpose, see {@link HiddenStateChunk}.
 */
public final class Delivery {
  private final int drafter;
  private final long step;
  private final HiddenStateChunk chunk;
  private final StepMarker marker;

  private Delivery(int drafter, long step, HiddenStateChunk chunk, StepMarker marker) {
    if (drafter < 0 || step < 0) {
      throw new IllegalArgumentException(
          "A delivery's drafter %d and step %d must not be negative.".formatted(drafter, step));
    }
    this.drafter = drafter;
    this.step = step;
    this.chunk = chunk;
    this.marker = marker;
  }

  /**
   * @throws IllegalArgumentException for a tombstone: its place is in the marker of its step
   */
  public static Delivery of(int drafter, long step, HiddenStateChunk chunk) {
    if (chunk.isTombstone()) {
      throw new IllegalArgumentException("A tombstone is never delivered: " + chunk + ".");
    }
    return new Delivery(drafter, step, chunk, null);
  }

  public static Delivery of(int drafter, StepMarker marker) {
    return new Delivery(drafter, marker.step(), null, Objects.requireNonNull(marker));
  }

  /** Subtask index of the drafter it goes to. */
  public int drafter() {
    return drafter;
  }

  /** Optimizer step that the microbatch or the marker belongs to. */
  public long step() {
    return step;
  }

  public boolean isMarker() {
    return marker != null;
  }

  /** Null for a marker. */
  public HiddenStateChunk chunk() {
    return chunk;
  }

  /** Null for a chunk. */
  public StepMarker marker() {
    return marker;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Delivery delivery
        && drafter == delivery.drafter
        && step == delivery.step
        && Objects.equals(chunk, delivery.chunk)
        && Objects.equals(marker, delivery.marker);
  }

  @Override
  public int hashCode() {
    return Objects.hash(drafter, step, chunk, marker);
  }

  @Override
  public String toString() {
    return "to drafter " + drafter + ", step " + step + ": " + (isMarker() ? marker : chunk);
  }
}
