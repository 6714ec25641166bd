package org.draftmill.compute.host;

import org.draftmill.compute.ops.Matrix;

/**
 * A matrix in a heap array: value {@code (r, c)} is {@code data[offset + r·columns + c]}. The array
 * may be longer than the matrix.
 */
public record HostMatrix(float[] data, int offset, int rows, int columns) implements Matrix {

  /** The matrix as this module's host backends see it. */
  public static HostMatrix of(Matrix matrix) {
    if (matrix instanceof HostMatrix host) {
      return host;
    }
    throw new IllegalArgumentException(
        "a host backend cannot use a matrix of " + matrix.getClass().getName());
  }

  /** Where row {@code row} begins in {@link #data}. */
  public int at(int row) {
    return offset + row * columns;
  }

  public int size() {
    return rows * columns;
  }

  @Override
  public HostMatrix rows(int from, int to) {
    if (from < 0 || to < from || to > rows) {
      throw new IndexOutOfBoundsException(
          "rows " + from + " to " + to + " of a matrix of " + rows + " rows");
    }
    return new HostMatrix(data, at(from), to - from, columns);
  }

  @Override
  public void write(float[] source, int from) {
    System.arraycopy(source, from, data, offset, size());
  }

  @Override
  public void read(float[] destination, int to) {
    System.arraycopy(data, offset, destination, to, size());
  }
}
