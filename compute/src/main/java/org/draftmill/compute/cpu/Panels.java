package org.draftmill.compute.cpu;

import java.util.Arrays;

/**
 * The right side of a product {@code [depth, columns]}, cut into panels of {@code width} columns;
 * value {@code (p, j)} is {@code data[(j / width)·depth·width + p·width + j % width]}. The last
 * panel is filled up with zeros.
 */
record Panels(float[] data, int depth, int columns, int width) {

  /** Length of the array for such panels. */
  static int length(int depth, int columns, int width) {
    return Math.multiplyExact(Math.multiplyExact(depth, count(columns, width)), width);
  }

  static int count(int columns, int width) {
    return (columns + width - 1) / width;
  }

  int count() {
    return count(columns, width);
  }

  /** Where panel {@code panel} begins. */
  int at(int panel) {
    return panel * depth * width;
  }

  /** Columns of panel {@code panel} that are not filling. */
  int columnsOf(int panel) {
    return Math.min(width, columns - panel * width);
  }

  /** Fills one panel from a row-major matrix {@code [depth, columns]} at {@code xo}. */
  void packRows(int panel, float[] x, int xo) {
    int used = columnsOf(panel);
    int from = xo + panel * width;
    int to = at(panel);
    for (int p = 0; p < depth; p++, from += columns, to += width) {
      System.arraycopy(x, from, data, to, used);
      Arrays.fill(data, to + used, to + width, 0f);
    }
  }

  /**
   * Fills one panel from the transpose, a row-major matrix {@code [columns, depth]} at {@code xo}.
   */
  void packTransposed(int panel, float[] x, int xo) {
    int used = columnsOf(panel);
    int to = at(panel);
    if (used < width) {
      Arrays.fill(data, to, to + depth * width, 0f);
    }
    for (int first = 0; first < depth; first += 16) {
      int end = Math.min(depth, first + 16);
      for (int j = 0; j < used; j++) {
        int from = xo + (panel * width + j) * depth;
        for (int p = first; p < end; p++) {
          data[to + p * width + j] = x[from + p];
        }
      }
    }
  }

  /** Fills one panel from panels of the transpose. */
  void packTransposed(int panel, Panels transposed) {
    int used = columnsOf(panel);
    int to = at(panel);
    for (int p = 0; p < depth; p++) {
      int from = transposed.at(p / width) + panel * width * width + p % width;
      for (int j = 0; j < used; j++) {
        data[to + p * width + j] = transposed.data[from + j * width];
      }
      Arrays.fill(data, to + p * width + used, to + (p + 1) * width, 0f);
    }
  }
}
