package org.draftmill.compute.cuda;

import org.draftmill.compute.ops.Matrix;

/**
 * A matrix in device memory: fp32, row-major without gaps, value {@code (r, c)} at {@code address +
 * 4·(r·columns + c)}. The first row is aligned to 256 bytes, a view's first row to 4.
 */
final class CudaMatrix implements Matrix, DeviceValue {
  private final Transfers transfers;
  private final Piece piece;
  private final long offset; // bytes from the piece's beginning
  private final int rows;
  private final int columns;

  CudaMatrix(Transfers transfers, Piece piece, long offset, int rows, int columns) {
    this.transfers = transfers;
    this.piece = piece;
    this.offset = offset;
    this.rows = rows;
    this.columns = columns;
  }

  /** The matrix as this backend sees it. */
  static CudaMatrix of(Matrix matrix) {
    if (matrix instanceof CudaMatrix cuda) {
      return cuda;
    }
    throw new IllegalArgumentException(
        "the cuda backend cannot use a matrix of " + matrix.getClass().getName());
  }

  @Override
  public int rows() {
    return rows;
  }

  @Override
  public int columns() {
    return columns;
  }

  /** {@code rows·columns}. */
  long size() {
    return (long) rows * columns;
  }

  long bytes() {
    return size() * Float.BYTES;
  }

  @Override
  public Piece piece() {
    return piece;
  }

  @Override
  public long address() {
    return piece.address() + offset;
  }

  @Override
  public CudaMatrix rows(int from, int to) {
    if (from < 0 || to < from || to > rows) {
      throw new IndexOutOfBoundsException(
          "rows " + from + " to " + to + " of a matrix of " + rows + " rows");
    }
    return new CudaMatrix(
        transfers, piece, offset + (long) Float.BYTES * from * columns, to - from, columns);
  }

  @Override
  public void write(float[] source, int from) {
    transfers.write(source, from, this);
  }

  @Override
  public void read(float[] destination, int to) {
    transfers.read(this, destination, to);
  }
}
