package org.draftmill.compute.host;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.Arrays;
import org.draftmill.compute.Backends;
import org.draftmill.compute.DType;
import org.draftmill.compute.InputException;
import org.draftmill.compute.ops.Backend;
import org.draftmill.compute.ops.Matrix;
import org.draftmill.compute.ops.Workspace;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class HostWorkspaceTest {
  private final Backend backend = Backends.open("cpu", 1);
  private final Workspace memory = backend.workspace();

  @AfterEach
  void close() {
    System.clearProperty(HostWorkspace.POISON);
    memory.close();
    backend.close();
  }

  @Test
  void aLoopOfTheSameSizesAllocatesOnce() {
    for (int round = 0; round < 5; round++) {
      memory.reset();
      memory.matrix(100, 70);
      memory.matrix(100, 70);
      memory.zeros(3, 5);
      memory.arrange(memory.matrix(20, 30));
    }
    long held = memory.bytesHeld();
    memory.reset();
    memory.matrix(100, 70);
    memory.matrix(100, 70);
    memory.zeros(3, 5);
    memory.arrange(memory.matrix(20, 30));
    assertThat(memory.bytesHeld()).isEqualTo(held);
    assertThat(memory.peakBytes()).isGreaterThanOrEqualTo(held);
  }

  @Test
  void whatNoArrayCanHoldIsSaidWithWhatLowersIt() {
    assertThatThrownBy(() -> memory.matrix(300_000, 20_480))
        .isInstanceOf(InputException.class)
        .hasMessageContainingAll(
            "300000 rows", "20480 columns", "6144000000", "jobs.token-budget", "target.taps");
    assertThatThrownBy(() -> memory.zeros(1 << 16, 1 << 15)).isInstanceOf(InputException.class);
  }

  @Test
  void zerosAreZeroInUsedMemory() {
    Matrix dirty = memory.matrix(4, 50);
    float[] values = new float[200];
    Arrays.fill(values, 7f);
    dirty.write(values, 0);
    memory.reset();
    assertThat(memory.zeros(4, 50).toArray()).containsOnly(0f);
  }

  @Test
  void freshMemoryIsPoisonedOnDemand() {
    System.setProperty(HostWorkspace.POISON, "true");
    try (Workspace poisoned = backend.workspace()) {
      assertThat(poisoned.matrix(3, 3).toArray()).containsOnly(Float.NaN);
    }
  }

  @Test
  void rowsAreViews() {
    Matrix matrix = memory.matrix(3, 2, new float[] {1, 2, 3, 4, 5, 6});
    Matrix last = matrix.rows(1, 3);
    assertThat(last.toArray()).containsExactly(3, 4, 5, 6);
    last.rows(1, 2).write(new float[] {0, 8, 9}, 1);
    assertThat(matrix.toArray()).containsExactly(1, 2, 3, 4, 8, 9);
    assertThatThrownBy(() -> matrix.rows(2, 4)).isInstanceOf(IndexOutOfBoundsException.class);
  }

  @ParameterizedTest
  @EnumSource(DType.class)
  void encodesWhatItDecodes(DType dtype) {
    int rows = 150;
    int columns = 61;
    float[] values = new float[rows * columns];
    for (int i = 0; i < values.length; i++) {
      values[i] = (i - 4000) * 0x1p-5f % 8;
    }
    Matrix matrix = memory.matrix(rows, columns, values);
    ByteBuffer bytes = ByteBuffer.allocate(3 + values.length * dtype.bytes() + 5);
    bytes.position(3);
    memory.encode(matrix, dtype, bytes);
    assertThat(bytes.remaining()).isEqualTo(5);
    bytes.position(3);
    Matrix back = memory.matrix(rows, columns);
    memory.decode(bytes, dtype, back);
    assertThat(bytes.remaining()).isEqualTo(5);
    assertThat(back.toArray()).containsExactly(values);
  }

  @Test
  void useAfterCloseFails() {
    memory.close();
    memory.close();
    assertThatThrownBy(() -> memory.matrix(1, 1)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(memory::reset).isInstanceOf(IllegalStateException.class);
  }
}
