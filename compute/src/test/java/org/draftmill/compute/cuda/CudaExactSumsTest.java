package org.draftmill.compute.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Random;
import org.draftmill.compute.host.PoisonedMemory;
import org.draftmill.compute.ops.ExactSums;
import org.draftmill.compute.ops.Matrix;
import org.draftmill.compute.ops.Workspace;
import org.draftmill.compute.reference.ReferenceBackend;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith({CudaEmulator.class, PoisonedMemory.class})
class CudaExactSumsTest {
  private static final int SIZE = 2600;

  private final Random random = new Random(3);
  private CudaBackend backend;
  private Workspace memory;
  private ExactSums sums;

  @BeforeEach
  void open() {
    backend = CudaBackend.open(0);
    memory = backend.workspace();
    sums = backend.exactSums(SIZE);
  }

  @AfterEach
  void close() {
    sums.close();
    sums.close();
    memory.close();
    assertThat(CudaEmulator.live(CudaEmulator.Kind.MEMORY)).isLessThanOrEqualTo(2);
    backend.close();
  }

  private float[] values(int count) {
    float[] values = new float[count];
    for (int i = 0; i < count; i++) {
      values[i] = (float) (random.nextGaussian() * Math.pow(10, random.nextInt(16) - 10));
    }
    values[0] = 0x1p-31f; // a half: to the even zero
    values[count - 1] = -0x1.8p-30f; // one and a half: to the even two
    return values;
  }

  @Test
  void areTheSameAsOnTheHost() {
    try (ReferenceBackend reference = new ReferenceBackend();
        Workspace host = reference.workspace();
        ExactSums expected = reference.exactSums(SIZE)) {
      for (int[] shape : new int[][] {{1, 1, 0}, {3, 7, 5}, {40, 65, 0}, {1, 1025, 1575}}) {
        float[] added = values(shape[0] * shape[1]);
        sums.add(memory.matrix(shape[0], shape[1], added), shape[2]);
        expected.add(host.matrix(shape[0], shape[1], added), shape[2]);
      }
      assertThat(sums.toHost()).isEqualTo(expected.toHost());
      assertThat(sums.sound()).isTrue();
    }
  }

  @Test
  void areSpoiltUntilTheyAreCleared() {
    for (float bad : new float[] {Float.NaN, 1 / 0f, -1 / 0f, 0x1p23f, -0x1p23f, 1e30f}) {
      float[] added = values(100);
      added[77] = bad;
      sums.add(memory.matrix(1, 100, added), 30);
      sums.add(memory.matrix(1, 3, new float[3]), 0);
      assertThat(sums.sound()).as("%s", bad).isFalse();
      sums.clear();
      assertThat(sums.sound()).isTrue();
      assertThat(sums.toHost()).containsOnly(0);
    }
  }

  @Test
  void goOnFromWhatWasWritten() {
    long[] before = random.longs(SIZE, -1L << 60, 1L << 60).toArray();
    sums.write(before);
    Matrix one = memory.matrix(1, 1, new float[] {-2});
    sums.add(one, SIZE - 1);
    before[SIZE - 1] -= 2L << 30;
    long[] now = sums.toHost();
    assertThat(now).isEqualTo(before);
    now[3] = 5;
    sums.write(now);
    assertThat(sums.toHost()[3]).isEqualTo(5);
  }

  @Test
  void refuseWhatDoesNotFit() {
    Matrix two = memory.matrix(1, 2, new float[2]);
    assertThatThrownBy(() -> sums.add(two, SIZE - 1))
        .isInstanceOf(IndexOutOfBoundsException.class)
        .hasMessage("2 values from 2599 on do not fit into 2600 sums");
  }
}
