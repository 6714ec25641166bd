package org.draftmill.compute.cuda;

import org.draftmill.compute.ops.Weight;

/**
 * A weight as tensor cores read it: bf16 {@code [outputs, stride]}, row-major, the columns from
 * {@code inputs} to {@code stride} zero. It serves {@code x·wᵀ} and {@code dOut·w} alike.
 */
final class CudaWeight implements Weight, DeviceValue {
  /** Values by which rows are padded: 128 bytes, what a thread block stages at once. */
  static final int PADDING = 64;

  private final Piece piece;
  private final int outputs;
  private final int inputs;

  CudaWeight(Piece piece, int outputs, int inputs) {
    this.piece = piece;
    this.outputs = outputs;
    this.inputs = inputs;
  }

  /** The weight as this backend sees it. */
  static CudaWeight of(Weight weight) {
    if (weight instanceof CudaWeight cuda) {
      return cuda;
    }
    throw new IllegalArgumentException(
        "the cuda backend cannot use a weight of " + weight.getClass().getName());
  }

  /** Values from one row to the next. */
  static int stride(int inputs) {
    return Math.multiplyExact((inputs - 1) / PADDING + 1, PADDING);
  }

  static long bytes(int outputs, int inputs) {
    return (long) Short.BYTES * outputs * stride(inputs);
  }

  @Override
  public int outputs() {
    return outputs;
  }

  @Override
  public int inputs() {
    return inputs;
  }

  int stride() {
    return stride(inputs);
  }

  @Override
  public Piece piece() {
    return piece;
  }

  @Override
  public long address() {
    return piece.address();
  }
}
