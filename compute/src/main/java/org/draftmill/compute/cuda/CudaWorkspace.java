package org.draftmill.compute.cuda;

import java.nio.ByteBuffer;
import org.draftmill.compute.DType;
import org.draftmill.compute.host.HostWorkspace;
import org.draftmill.compute.ops.Matrix;
import org.draftmill.compute.ops.Weight;
import org.draftmill.compute.ops.Workspace;

/**
 * Device memory for a span of work. With the system property {@value HostWorkspace#POISON} every
 * matrix is an allocation of its own, for tools that watch memory.
 */
final class CudaWorkspace implements Workspace {
  private final CudaBackend backend;
  private final CudaArena arena;
  private boolean closed;

  CudaWorkspace(CudaBackend backend) {
    this.backend = backend;
    this.arena = new CudaArena(backend.memory(), Boolean.getBoolean(HostWorkspace.POISON));
  }

  @Override
  public CudaMatrix matrix(int rows, int columns) {
    long bytes = Math.multiplyExact(Math.multiplyFull(rows, columns), Float.BYTES);
    return new CudaMatrix(backend.transfers(), take(bytes), 0, rows, columns);
  }

  @Override
  public CudaMatrix zeros(int rows, int columns) {
    CudaMatrix matrix = matrix(rows, columns);
    backend.launcher().zero(matrix, matrix.bytes());
    return matrix;
  }

  /** Memory of any content, for what is no matrix. */
  Piece take(long bytes) {
    if (closed) {
      throw new IllegalStateException("this workspace is closed");
    }
    return arena.take(bytes);
  }

  @Override
  public void decode(ByteBuffer source, DType dtype, Matrix matrix) {
    backend.transfers().decode(source, dtype, CudaMatrix.of(matrix));
  }

  @Override
  public void encode(Matrix matrix, DType dtype, ByteBuffer destination) {
    backend
        .copies()
        .encode(CudaMatrix.of(matrix), dtype, destination, backend.computing(), backend.encoding());
  }

  @Override
  public CudaInts ints(int... values) {
    CudaInts ints =
        new CudaInts(
            backend.transfers(), take((long) values.length * Integer.BYTES), values.length);
    backend.transfers().write(values, ints);
    return ints;
  }

  @Override
  public CudaWeight arrange(Matrix matrix) {
    int outputs = matrix.rows();
    int inputs = matrix.columns();
    CudaWeight weight = new CudaWeight(take(CudaWeight.bytes(outputs, inputs)), outputs, inputs);
    arrange(matrix, weight);
    return weight;
  }

  @Override
  public void arrange(Matrix matrix, Weight weight) {
    CudaWeight to = CudaWeight.of(weight);
    if (to.outputs() != matrix.rows() || to.inputs() != matrix.columns()) {
      throw new IllegalArgumentException(
          "a weight cannot be refilled from a matrix of another shape");
    }
    long n = (long) to.outputs() * to.stride();
    backend
        .launcher()
        .launch(
            "convert",
            "arrange_bf16",
            Grid.over(n),
            CudaMatrix.of(matrix),
            to,
            to.inputs(),
            to.stride(),
            n);
  }

  @Override
  public long bytesHeld() {
    return arena.bytesHeld();
  }

  @Override
  public long peakBytes() {
    return arena.peakBytes();
  }

  @Override
  public void reset() {
    if (closed) {
      throw new IllegalStateException("this workspace is closed");
    }
    arena.reset();
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      arena.close();
    }
  }
}
