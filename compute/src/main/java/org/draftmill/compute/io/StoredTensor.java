package org.draftmill.compute.io;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import org.draftmill.compute.DType;
import org.draftmill.compute.InputException;
import org.draftmill.compute.ops.Matrix;
import org.draftmill.compute.ops.Workspace;

/** A tensor in an open {@link SafetensorsFile}; its bytes are touched when they are read. */
public final class StoredTensor {
  /** Most bytes that are mapped at once; larger tensors are read in several goes. */
  static final int CHUNK_BYTES = 256 << 20;

  private final SafetensorsFile file;
  private final SafetensorsHeader.Entry entry;

  StoredTensor(SafetensorsFile file, SafetensorsHeader.Entry entry) {
    this.file = file;
    this.entry = entry;
  }

  public String name() {
    return entry.name();
  }

  public TensorType type() {
    return entry.type();
  }

  public long[] shape() {
    return entry.shape().clone();
  }

  /** Length of its data. */
  public long bytes() {
    return entry.end() - entry.begin();
  }

  public long elements() {
    return bytes() / type().bytes();
  }

  public Path path() {
    return file.path();
  }

  /** Throws an {@link InputException} unless the tensor has exactly these dimensions. */
  public StoredTensor requireShape(long... expected) {
    if (!Arrays.equals(entry.shape(), expected)) {
      throw new InputException(
          "%s: tensor '%s' has the shape %s where %s was expected; the weights and config.json do not belong together."
              .formatted(
                  path(), name(), Arrays.toString(entry.shape()), Arrays.toString(expected)));
    }
    return this;
  }

  /** Its dimensions after the first as one; a tensor of one dimension is a single row. */
  private int[] rowsAndColumns() {
    long[] shape = entry.shape();
    long rows = shape.length < 2 ? 1 : shape[0];
    long columns = rows == 0 ? 0 : elements() / rows;
    if (rows > Integer.MAX_VALUE || columns > Integer.MAX_VALUE) {
      throw new InputException(
          "%s: tensor '%s' of shape %s is too large for a matrix."
              .formatted(path(), name(), Arrays.toString(shape)));
    }
    return new int[] {(int) rows, (int) columns};
  }

  /** A new matrix of {@code workspace} with the tensor's values: {@code [shape[0], the rest]}. */
  public Matrix read(Workspace workspace) {
    int[] size = rowsAndColumns();
    Matrix matrix = workspace.matrix(size[0], size[1]);
    readInto(workspace, matrix);
    return matrix;
  }

  /** Decodes all values into {@code matrix} of as many elements. */
  public void readInto(Workspace workspace, Matrix matrix) {
    readInto(workspace, matrix, CHUNK_BYTES);
  }

  void readInto(Workspace workspace, Matrix matrix, int chunkBytes) {
    DType dtype =
        type()
            .dtype()
            .orElseThrow(
                () ->
                    new InputException(
                        "%s: tensor '%s' is of type %s; weights can be F32, BF16 or F16."
                            .formatted(path(), name(), type())));
    if ((long) matrix.rows() * matrix.columns() != elements()) {
      throw new IllegalArgumentException(
          "tensor '%s' %s does not fill a matrix [%d, %d]"
              .formatted(name(), Arrays.toString(entry.shape()), matrix.rows(), matrix.columns()));
    }
    if (elements() == 0) {
      return;
    }
    long rowBytes = (long) matrix.columns() * dtype.bytes();
    int chunkRows = (int) Math.min(matrix.rows(), Math.max(1, chunkBytes / rowBytes));
    for (int row = 0; row < matrix.rows(); row += chunkRows) {
      int end = Math.min(matrix.rows(), row + chunkRows);
      workspace.decode(map(row * rowBytes, (end - row) * rowBytes), dtype, matrix.rows(row, end));
    }
  }

  /** All values of a small tensor of whole numbers ({@code I64}, {@code I32} or {@code U8}). */
  public long[] readLongs() {
    ByteBuffer bytes = map(0, bytes());
    long[] values = new long[bytes.remaining() / type().bytes()];
    for (int i = 0; i < values.length; i++) {
      values[i] =
          switch (type()) {
            case I64 -> bytes.getLong();
            case I32 -> bytes.getInt();
            case U8 -> Byte.toUnsignedInt(bytes.get());
            default ->
                throw new InputException(
                    "%s: tensor '%s' is of type %s where I64, I32 or U8 was expected."
                        .formatted(path(), name(), type()));
          };
    }
    return values;
  }

  /**
   * Maps {@code length} of the tensor's bytes from {@code from} on: read-only, little-endian, valid
   * even after the file was closed.
   */
  public ByteBuffer map(long from, long length) {
    if (from < 0 || length < 0 || length > Integer.MAX_VALUE || from > bytes() - length) {
      throw new IllegalArgumentException(
          "bytes %d to %d of tensor '%s', which has %d, cannot be mapped at once"
              .formatted(from, from + length, name(), bytes()));
    }
    return file.map(entry.begin() + from, length);
  }

  @Override
  public String toString() {
    return name() + " " + type() + Arrays.toString(entry.shape());
  }
}
