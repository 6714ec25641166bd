package org.draftmill.compute.cpu;

/** An array that grows to the largest size asked of it and is then used again and again. */
final class Scratch {
  private float[] array = new float[0];

  /** At least {@code length} values of any content; the array handed out before is given up. */
  float[] atLeast(int length) {
    if (array.length < length) {
      array = new float[Math.max(length, (int) Math.min(2L * array.length, Integer.MAX_VALUE - 8))];
    }
    return array;
  }

  long bytes() {
    return (long) Float.BYTES * array.length;
  }
}
