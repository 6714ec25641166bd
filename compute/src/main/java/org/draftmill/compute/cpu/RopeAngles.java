package org.draftmill.compute.cpu;

import java.util.Arrays;
import org.draftmill.compute.ops.RopeTable;

/** Cosines and sines of a rotary table {@code [positions, headDim/2]}, computed once a position. */
final class RopeAngles {
  private final double[] inverseFrequency;
  private final double scale;
  private int positions;
  private float[] cos = new float[0];
  private float[] sin = new float[0];

  RopeAngles(RopeTable table) {
    this.inverseFrequency = table.inverseFrequency();
    this.scale = table.scale();
  }

  float[] cos() {
    return cos;
  }

  float[] sin() {
    return sin;
  }

  long bytes() {
    return (long) Float.BYTES * (cos.length + (long) sin.length);
  }

  /** Sees to it that the positions below {@code count} are there. */
  void reach(int count) {
    if (count <= positions) {
      return;
    }
    int half = inverseFrequency.length;
    int wanted = Math.max(count, Math.max(512, 2 * positions));
    float[] newCos = Arrays.copyOf(cos, Math.multiplyExact(wanted, half));
    float[] newSin = Arrays.copyOf(sin, wanted * half);
    for (int p = positions; p < wanted; p++) {
      for (int j = 0; j < half; j++) {
        double angle = p * inverseFrequency[j];
        newCos[p * half + j] = (float) (StrictMath.cos(angle) * scale);
        newSin[p * half + j] = (float) (StrictMath.sin(angle) * scale);
      }
    }
    cos = newCos;
    sin = newSin;
    positions = wanted;
  }
}
