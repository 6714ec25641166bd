package org.draftmill.compute.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.draftmill.compute.DType;
import org.draftmill.compute.ops.Matrix;
import org.draftmill.compute.ops.Workspace;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(CudaEmulator.class)
class CudaBackendTest {

  @Test
  void valuesComeBackAsTheyWent() {
    try (CudaBackend backend = CudaBackend.open(0);
        Workspace memory = backend.workspace()) {
      float[] values = {1, -2.5f, 3e30f, 0, 5, 6};
      Matrix matrix = memory.matrix(2, 3, values);
      assertThat(matrix.toArray()).containsExactly(values);
      assertThat(matrix.rows(1, 2).toArray()).containsExactly(0, 5, 6);
    }
  }

  @Test
  void adds() {
    try (CudaBackend backend = CudaBackend.open(0);
        Workspace memory = backend.workspace()) {
      Matrix x = memory.matrix(1, 3, new float[] {1, 2, 3});
      Matrix y = memory.matrix(1, 3, new float[] {10, 20, 30});
      backend.ops().add(x, y, x);
      assertThat(x.toArray()).containsExactly(11, 22, 33);
    }
  }

  @Test
  void encodesOnTheCopyStream() {
    try (CudaBackend backend = CudaBackend.open(0);
        Workspace memory = backend.workspace()) {
      Matrix x = memory.matrix(1, 2, new float[] {1, 2});
      Matrix sum = memory.matrix(1, 2);
      backend.ops().add(x, x, sum);
      ByteBuffer bytes = ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN);
      memory.encode(sum, DType.BF16, bytes);
      Matrix back = memory.matrix(1, 2);
      memory.decode(bytes.flip(), DType.BF16, back);
      assertThat(back.toArray()).containsExactly(2, 4);
    }
  }
}
