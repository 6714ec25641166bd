package org.draftmill.compute.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Random;
import org.draftmill.compute.host.HostWorkspace;
import org.draftmill.compute.ops.Heads;
import org.draftmill.compute.ops.Matrix;
import org.draftmill.compute.ops.Workspace;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a query of attention gets, to the bit, whoever stands beside it. */
@ExtendWith(CudaEmulator.class)
class CudaAttentionTest {
  private static final Heads HEADS = new Heads(6, 2, 20);

  private final Random random = new Random(5);
  private CudaBackend backend;
  private Workspace memory;

  @BeforeEach
  void open() {
    System.setProperty(HostWorkspace.POISON, "true");
    backend = CudaBackend.open(0);
    memory = backend.workspace();
  }

  @AfterEach
  void close() {
    System.clearProperty(HostWorkspace.POISON);
    memory.close();
    backend.close();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 29})
  void packedAloneAndFromACacheAreTheSame(int window) {
    int[] starts = {0, 5, 5, 140, 147};
    int n = 147;
    Matrix q = random(n, HEADS.queryColumns());
    Matrix k = random(n, HEADS.keyValueColumns());
    Matrix v = random(n, HEADS.keyValueColumns());
    Matrix packed = memory.matrix(n, HEADS.queryColumns());
    backend.ops().causalAttention(q, k, v, starts, HEADS, window, packed);

    Matrix alone = memory.matrix(135, HEADS.queryColumns());
    Matrix keys = k.rows(5, 140);
    Matrix values = v.rows(5, 140);
    backend
        .ops()
        .causalAttention(q.rows(5, 140), keys, values, new int[] {0, 135}, HEADS, window, alone);
    assertThat(alone.toArray()).isEqualTo(packed.rows(5, 140).toArray());

    for (int[] rows : new int[][] {{0, 3}, {70, 71}, {128, 135}}) {
      Matrix some = memory.matrix(rows[1] - rows[0], HEADS.queryColumns());
      backend
          .ops()
          .cachedAttention(
              q.rows(5 + rows[0], 5 + rows[1]), keys, values, rows[1], HEADS, window, some);
      assertThat(some.toArray()).isEqualTo(alone.rows(rows[0], rows[1]).toArray());
    }
  }

  @Test
  void refusesLargeHeadsByName() {
    Heads heads = new Heads(1, 1, 130);
    Matrix x = random(2, 130);
    assertThatThrownBy(
            () ->
                backend
                    .ops()
                    .causalAttention(x, x, x, new int[] {0, 2}, heads, 0, memory.matrix(2, 130)))
        .hasMessageContaining("at most 128 values, this model's have 130");
  }

  private Matrix random(int rows, int columns) {
    float[] values = new float[rows * columns];
    for (int i = 0; i < values.length; i++) {
      values[i] = (float) random.nextGaussian();
    }
    return memory.matrix(rows, columns, values);
  }
}
