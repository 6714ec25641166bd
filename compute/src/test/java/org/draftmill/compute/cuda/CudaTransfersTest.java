package org.draftmill.compute.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.draftmill.compute.DType;
import org.draftmill.compute.ops.Backend;
import org.draftmill.compute.ops.Ints;
import org.draftmill.compute.ops.Matrix;
import org.draftmill.compute.ops.Workspace;
import org.draftmill.compute.reference.ReferenceBackend;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

@Tag(CudaEmulator.TAG)
@ExtendWith(CudaEmulator.class)
class CudaTransfersTest {
  private static final int ROWS = 3;
  private static final int COLUMNS = 7001;
  private static final int STAGING = 1 << 14; // several chunks a matrix

  private static float[] values() {
    Random random = new Random(3);
    float[] values = new float[ROWS * COLUMNS];
    for (int i = 0; i < values.length; i++) {
      values[i] = Float.intBitsToFloat(random.nextInt());
    }
    return values;
  }

  private static byte[] encoded(Backend backend, DType dtype, float[] values) {
    try (Workspace memory = backend.workspace()) {
      Matrix matrix = memory.matrix(ROWS, COLUMNS, values);
      ByteBuffer bytes = ByteBuffer.allocateDirect(ROWS * COLUMNS * dtype.bytes() + 3);
      memory.encode(matrix, dtype, bytes.position(1));
      byte[] result = new byte[ROWS * COLUMNS * dtype.bytes()];
      assertThat(bytes.position()).isEqualTo(1 + result.length);
      bytes.get(1, result);
      return result;
    }
  }

  private static float[] decoded(Backend backend, DType dtype, byte[] bytes) {
    try (Workspace memory = backend.workspace()) {
      Matrix matrix = memory.matrix(ROWS, COLUMNS);
      ByteBuffer source = ByteBuffer.wrap(bytes).order(ByteOrder.BIG_ENDIAN);
      memory.decode(source, dtype, matrix);
      assertThat(source.remaining()).isZero();
      return matrix.toArray();
    }
  }

  @ParameterizedTest
  @CsvSource({"F32, LATE", "BF16, LATE", "F16, LATE", "BF16, AT_ONCE", "F32, RANDOM"})
  void theReferencesBits(DType dtype, CudaEmulator.Order order) {
    CudaEmulator.order(order, 4);
    float[] values = values();
    try (Backend reference = new ReferenceBackend();
        Backend cuda = CudaBackend.open(0, STAGING)) {
      byte[] expected = encoded(reference, dtype, values);
      byte[] found = encoded(cuda, dtype, values);
      assertThat(found).isEqualTo(expected);
      assertThat(decoded(cuda, dtype, found)).isEqualTo(decoded(reference, dtype, found));
    }
  }

  @Test
  void integers() {
    int[] values = new Random(5).ints(30_000).toArray();
    try (Backend cuda = CudaBackend.open(0, STAGING);
        Workspace memory = cuda.workspace()) {
      Ints ints = memory.ints(values);
      int[] found = new int[values.length];
      ints.read(found);
      assertThat(found).isEqualTo(values);
      memory.ints().read(new int[0]);
    }
  }

  /** Another thread encodes result after result while this one goes on. */
  @ParameterizedTest
  @EnumSource
  void encodesWhileTheNextIsComputed(CudaEmulator.Order order) throws Exception {
    CudaEmulator.order(order, 11);
    ExecutorService other = Executors.newSingleThreadExecutor();
    try (Backend cuda = CudaBackend.open(0, STAGING);
        Workspace memory = cuda.workspace()) {
      Matrix one = memory.matrix(1, 1000, filled(1));
      Matrix sum = memory.zeros(1, 1000);
      Matrix[] results = {memory.matrix(1, 1000), memory.matrix(1, 1000)};
      Future<float[]> last = null;
      for (int round = 1; round <= 60; round++) {
        cuda.ops().add(sum, one, sum);
        Matrix result = results[round % 2];
        cuda.ops().add(sum, one, result);
        if (last != null) {
          assertThat(last.get()).containsOnly(round);
        }
        last = other.submit(() -> encode(memory, result));
      }
      assertThat(last.get()).containsOnly(61);
    } finally {
      other.shutdown();
    }
  }

  private static float[] filled(float value) {
    float[] values = new float[1000];
    java.util.Arrays.fill(values, value);
    return values;
  }

  private static float[] encode(Workspace memory, Matrix matrix) {
    ByteBuffer bytes = ByteBuffer.allocate(4000).order(ByteOrder.LITTLE_ENDIAN);
    memory.encode(matrix, DType.F32, bytes);
    float[] values = new float[1000];
    bytes.flip().asFloatBuffer().get(values);
    return values;
  }

  /** The copy runs what it needs of the computing stream and leaves the rest for later. */
  @Test
  void encodingWaitsForNoMoreThanItNeeds() {
    try (CudaBackend cuda = CudaBackend.open(0, STAGING);
        Workspace memory = cuda.workspace()) {
      Matrix one = memory.matrix(1, 1000, filled(1));
      Matrix result = memory.zeros(1, 1000);
      Matrix unwritten = memory.matrix(1, 1000);
      for (int i = 0; i < 40; i++) {
        cuda.ops().add(result, one, result);
      }
      for (int i = 0; i < 40; i++) {
        cuda.ops().add(one, one, one);
      }
      cuda.ops().add(unwritten, one, unwritten); // fails, but much later
      assertThat(encode(memory, result)).containsOnly(40);
    }
  }
}
