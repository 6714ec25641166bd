package org.draftmill.compute.cuda;

import org.draftmill.compute.ops.Ints;

/** Integers in device memory. */
final class CudaInts implements Ints, DeviceValue {
  private final Transfers transfers;
  private final Piece piece;
  private final int size;

  CudaInts(Transfers transfers, Piece piece, int size) {
    this.transfers = transfers;
    this.piece = piece;
    this.size = size;
  }

  /** The integers as this backend sees them. */
  static CudaInts of(Ints ints) {
    if (ints instanceof CudaInts cuda) {
      return cuda;
    }
    throw new IllegalArgumentException(
        "the cuda backend cannot use integers of " + ints.getClass().getName());
  }

  @Override
  public int size() {
    return size;
  }

  @Override
  public Piece piece() {
    return piece;
  }

  @Override
  public long address() {
    return piece.address();
  }

  @Override
  public void read(int[] destination) {
    transfers.read(this, destination);
  }
}
