package org.draftmill.compute.host;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Heap arrays by size class, each taken until the next {@link #reset()}. Classes are four to an
 * octave, so an array is at most a quarter longer than asked for and a loop whose sizes vary a
 * little still finds what it used before.
 */
final class FloatPool {
  private static final int SMALLEST = 64;

  private final boolean poison;
  private final Map<Integer, Shelf> shelves = new HashMap<>();
  private long bytes;

  /**
   * @param poison fill every array handed out with NaN, so that a value read before it was written
   *     shows
   */
  FloatPool(boolean poison) {
    this.poison = poison;
  }

  /** An array of at least {@code length} values of any content. */
  float[] take(int length) {
    Shelf shelf = shelves.computeIfAbsent(sizeClass(length), Shelf::new);
    float[] array = shelf.take();
    if (poison) {
      Arrays.fill(array, Float.NaN);
    }
    return array;
  }

  void reset() {
    shelves.values().forEach(shelf -> shelf.used = 0);
  }

  long bytesHeld() {
    return bytes;
  }

  /** The least class that holds {@code length}: {@code 2^k·{4, 5, 6, 7}/4}. */
  static int sizeClass(int length) {
    if (length <= SMALLEST) {
      return SMALLEST;
    }
    int shift = 29 - Integer.numberOfLeadingZeros(length - 1);
    long rounded = ((length - 1L >> shift) + 1) << shift;
    return (int) Math.min(rounded, Integer.MAX_VALUE - 8L);
  }

  private final class Shelf {
    private final int length;
    private final List<float[]> arrays = new ArrayList<>();
    private int used;

    Shelf(int length) {
      this.length = length;
    }

    float[] take() {
      if (used == arrays.size()) {
        arrays.add(new float[length]);
        bytes += 4L * length;
      }
      return arrays.get(used++);
    }
  }
}
