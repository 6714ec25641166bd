package org.draftmill.compute.cpu;

import java.util.Arrays;

/**
 * Scratch memory of one thread.
 *
 * @param lanes {@code [Scalar.LANES]} of a sum
 * @param row {@code [ROW]} of exponentials
 */
record Spare(float[] lanes, float[] row) {
  /** Values that are worked on at a time; a multiple of {@link Scalar#LANES}. */
  static final int ROW = 1024;

  Spare() {
    this(new float[Scalar.LANES], new float[ROW]);
  }

  float[] clearedLanes() {
    Arrays.fill(lanes, 0f);
    return lanes;
  }
}
