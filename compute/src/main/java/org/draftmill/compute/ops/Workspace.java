package org.draftmill.compute.ops;

import java.nio.ByteBuffer;
import org.draftmill.compute.DType;

/**
 * The one owner of device memory for a span of work. {@link #reset()} makes all of its memory free
 * again without giving it back to the device, so that a loop which asks for the same sizes
 * allocates nothing from its second round on. Not thread-safe. Closing twice is harmless; use after
 * close throws {@link IllegalStateException}.
 */
public interface Workspace extends AutoCloseable {
  /** A matrix of undefined content (poisoned in tests). */
  Matrix matrix(int rows, int columns);

  /** A matrix of zeros. */
  Matrix zeros(int rows, int columns);

  /** A matrix with these row-major values. */
  default Matrix matrix(int rows, int columns, float[] values) {
    Matrix matrix = matrix(rows, columns);
    matrix.write(values, 0);
    return matrix;
  }

  /**
   * Reads {@code matrix.rows()·matrix.columns()} little-endian values of {@code dtype} from {@code
   * source}, from its position on, into {@code matrix}; the position moves past them.
   */
  void decode(ByteBuffer source, DType dtype, Matrix matrix);

  /**
   * The inverse of {@link #decode}; rounds to nearest, halves to even. Waits for the device. The
   * one method that another thread may call while the backend computes, on a matrix that nobody
   * changes meanwhile.
   */
  void encode(Matrix matrix, DType dtype, ByteBuffer destination);

  /** A copy of {@code values} on the device. */
  Ints ints(int... values);

  /**
   * A copy of {@code matrix} {@code [outputs, inputs]} arranged for products; lives as long as this
   * workspace's other memory.
   */
  Weight arrange(Matrix matrix);

  /** Refills {@code weight}, made by {@link #arrange}, from a matrix of the same shape. */
  void arrange(Matrix matrix, Weight weight);

  /** Bytes of device memory now held, in use or not. */
  long bytesHeld();

  /** The largest {@link #bytesHeld()} so far. */
  long peakBytes();

  /** Makes all memory of this workspace reusable; what it handed out must not be used any more. */
  void reset();

  @Override
  void close();
}
