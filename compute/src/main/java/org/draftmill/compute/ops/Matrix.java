package org.draftmill.compute.ops;

/**
 * A dense row-major matrix of floats on a device; a vector is a matrix of one row. Heads lie side
 * by side in the columns: {@code [tokens, heads·headDim]}. A matrix belongs to the {@link
 * Workspace} that made it and must not be used after that was reset or closed.
 */
public interface Matrix {
  int rows();

  int columns();

  /** The rows {@code from} (inclusive) to {@code to} (exclusive) as a view on the same memory. */
  Matrix rows(int from, int to);

  /** Copies {@code rows·columns} values from {@code source} at {@code offset} to the device. */
  void write(float[] source, int offset);

  /**
   * Copies {@code rows·columns} values to {@code destination} at {@code offset}; waits for the
   * device.
   */
  void read(float[] destination, int offset);

  /** All values as a new array {@code [rows·columns]}; for tests and small results. */
  default float[] toArray() {
    float[] values = new float[Math.multiplyExact(rows(), columns())];
    read(values, 0);
    return values;
  }
}
