package org.draftmill.compute.host;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.draftmill.compute.DType;
import org.draftmill.compute.ops.Ints;
import org.draftmill.compute.ops.Matrix;
import org.draftmill.compute.ops.Workspace;

/**
 * A workspace of heap arrays; backends add their arrangement of weights. With the system property
 * {@value #POISON} every array is filled with NaN when it is handed out.
 */
public abstract class HostWorkspace implements Workspace {
  /** System property that fills fresh memory with NaN; for tests. */
  public static final String POISON = "draftmill.poison";

  private static final int CONVERT_AT_ONCE = 4096;

  private final HostClock encoding;

  private FloatArena matrices = new FloatArena(Boolean.getBoolean(POISON));
  private FloatPool arranged = new FloatPool(Boolean.getBoolean(POISON));
  private long peakBytes; // once closed

  /**
   * @param encoding measures {@link #encode}
   */
  protected HostWorkspace(HostClock encoding) {
    this.encoding = encoding;
  }

  /** An array of at least {@code length} values of any content, until the next reset. */
  protected final float[] take(int length) {
    open();
    return arranged.take(length);
  }

  @Override
  public final HostMatrix matrix(int rows, int columns) {
    return open().matrix(rows, columns);
  }

  @Override
  public final HostMatrix matrix(int rows, int columns, float[] values) {
    HostMatrix matrix = matrix(rows, columns);
    matrix.write(values, 0);
    return matrix;
  }

  @Override
  public final HostMatrix zeros(int rows, int columns) {
    HostMatrix matrix = matrix(rows, columns);
    Arrays.fill(matrix.data(), matrix.offset(), matrix.offset() + matrix.size(), 0f);
    return matrix;
  }

  @Override
  public final void decode(ByteBuffer source, DType dtype, Matrix matrix) {
    HostMatrix to = HostMatrix.of(matrix);
    ByteBuffer bytes = source.slice().order(ByteOrder.LITTLE_ENDIAN);
    if (dtype == DType.F32) {
      bytes.asFloatBuffer().get(to.data(), to.offset(), to.size());
    } else {
      decodeHalves(bytes, dtype, to);
    }
    source.position(source.position() + Math.multiplyExact(to.size(), dtype.bytes()));
  }

  private static void decodeHalves(ByteBuffer bytes, DType dtype, HostMatrix to) {
    var halves = bytes.asShortBuffer();
    short[] some = new short[CONVERT_AT_ONCE];
    for (int done = 0, count; done < to.size(); done += count) {
      count = Math.min(CONVERT_AT_ONCE, to.size() - done);
      halves.get(some, 0, count);
      int at = to.offset() + done;
      if (dtype == DType.BF16) {
        for (int i = 0; i < count; i++) {
          to.data()[at + i] = HalfPrecision.fromBFloat16(some[i]);
        }
      } else {
        for (int i = 0; i < count; i++) {
          to.data()[at + i] = HalfPrecision.fromFloat16(some[i]);
        }
      }
    }
  }

  @Override
  public final void encode(Matrix matrix, DType dtype, ByteBuffer destination) {
    final long start = System.nanoTime();
    HostMatrix from = HostMatrix.of(matrix);
    ByteBuffer bytes = destination.slice().order(ByteOrder.LITTLE_ENDIAN);
    if (dtype == DType.F32) {
      bytes.asFloatBuffer().put(from.data(), from.offset(), from.size());
    } else {
      encodeHalves(from, dtype, bytes);
    }
    destination.position(destination.position() + Math.multiplyExact(from.size(), dtype.bytes()));
    encoding.add(System.nanoTime() - start);
  }

  private static void encodeHalves(HostMatrix from, DType dtype, ByteBuffer bytes) {
    var halves = bytes.asShortBuffer();
    short[] some = new short[CONVERT_AT_ONCE];
    for (int done = 0, count; done < from.size(); done += count) {
      count = Math.min(CONVERT_AT_ONCE, from.size() - done);
      int at = from.offset() + done;
      if (dtype == DType.BF16) {
        for (int i = 0; i < count; i++) {
          some[i] = HalfPrecision.toBFloat16(from.data()[at + i]);
        }
      } else {
        for (int i = 0; i < count; i++) {
          some[i] = HalfPrecision.toFloat16(from.data()[at + i]);
        }
      }
      halves.put(some, 0, count);
    }
  }

  @Override
  public final Ints ints(int... values) {
    open();
    return new HostInts(values.clone());
  }

  @Override
  public final long bytesHeld() {
    return matrices == null ? 0 : matrices.bytesHeld() + arranged.bytesHeld();
  }

  @Override
  public final long peakBytes() {
    return matrices == null ? peakBytes : matrices.peakBytes() + arranged.bytesHeld();
  }

  @Override
  public final void reset() {
    open().reset();
    arranged.reset();
  }

  @Override
  public final void close() {
    peakBytes = peakBytes();
    matrices = null;
    arranged = null;
  }

  private FloatArena open() {
    if (matrices == null) {
      throw new IllegalStateException("this workspace is closed");
    }
    return matrices;
  }
}
