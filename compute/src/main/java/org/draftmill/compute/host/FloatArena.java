package org.draftmill.compute.host;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.draftmill.compute.InputException;

/**
 * Memory for matrices, handed out piece after piece from a few heap arrays until the next {@link
 * #reset()}. A round that needed several arrays has them replaced by one that holds it all, so a
 * loop whose sizes vary settles on about the memory of its largest round, however they vary, and
 * allocates nothing from then on.
 */
final class FloatArena {
  /** Pieces begin at multiples of this, so that vectors seldom cross a cache line. */
  private static final int ALIGNMENT = 16;

  private static final int SMALLEST = 1 << 12;
  private static final int LARGEST_GROWTH = 1 << 22;
  private static final int LARGEST_JOINED = Integer.MAX_VALUE - 64;
  private static final int LARGEST_MATRIX = Integer.MAX_VALUE - 8; // of an array, on any JVM

  private final boolean poison;
  private final List<float[]> arrays = new ArrayList<>();
  private int current;
  private int used; // of the current array
  private long taken; // since the last reset
  private long bytes;
  private long peakBytes;

  /**
   * @param poison fill every piece with NaN, so that a value read before it was written shows
   */
  FloatArena(boolean poison) {
    this.poison = poison;
  }

  /**
   * A matrix of any content.
   *
   * @throws InputException if it has more values than an array can
   */
  HostMatrix matrix(int rows, int columns) {
    int length = length(rows, columns);
    while (current < arrays.size() && arrays.get(current).length - used < length) {
      current++;
      used = 0;
    }
    if (current == arrays.size()) {
      // Grows by an eighth, so that many small pieces make few arrays and little is left over.
      long eighth = bytes / Float.BYTES / 8;
      add(Math.max(length, (int) Math.max(SMALLEST, Math.min(eighth, LARGEST_GROWTH))));
    }
    float[] array = arrays.get(current);
    HostMatrix matrix = new HostMatrix(array, used, rows, columns);
    int next = (int) Math.min(array.length, (used + (long) length + ALIGNMENT - 1) & -ALIGNMENT);
    taken += next - used;
    used = next;
    if (poison) {
      Arrays.fill(array, matrix.offset(), matrix.offset() + length, Float.NaN);
    }
    return matrix;
  }

  private static int length(int rows, int columns) {
    long length = Math.multiplyFull(rows, columns);
    if (length > LARGEST_MATRIX) {
      throw new InputException(
          "A matrix of %d rows and %d columns has %d values; this device holds at most %d in one. Where the rows are the tokens of a job, plan with a smaller jobs.token-budget or take fewer layers in target.taps."
              .formatted(rows, columns, length, LARGEST_MATRIX));
    }
    return (int) length;
  }

  /** Makes all memory reusable. */
  void reset() {
    if (arrays.size() > 1 && taken <= LARGEST_JOINED) {
      long before = taken + ALIGNMENT * (long) arrays.size();
      arrays.clear();
      bytes = 0;
      add((int) Math.min(before + before / 16, LARGEST_JOINED));
    }
    current = 0;
    used = 0;
    taken = 0;
  }

  private void add(int length) {
    arrays.add(new float[length]);
    bytes += (long) Float.BYTES * length;
    peakBytes = Math.max(peakBytes, bytes);
  }

  long bytesHeld() {
    return bytes;
  }

  long peakBytes() {
    return peakBytes;
  }
}
