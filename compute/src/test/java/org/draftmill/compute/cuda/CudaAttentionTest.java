package org.draftmill.compute.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.draftmill.compute.host.PoisonedMemory;
import org.draftmill.compute.ops.Blocks;
import org.draftmill.compute.ops.Heads;
import org.draftmill.compute.ops.Matrix;
import org.draftmill.compute.ops.Ops;
import org.draftmill.compute.ops.Ops.BlockAttentionGradients;
import org.draftmill.compute.ops.Workspace;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a query of attention gets, to the bit, whoever stands beside it. */
@ExtendWith({CudaEmulator.class, PoisonedMemory.class})
class CudaAttentionTest {
  private static final Heads HEADS = new Heads(6, 2, 20);

  private final Random random = new Random(5);
  private CudaBackend backend;
  private Workspace memory;

  @BeforeEach
  void open() {
    backend = CudaBackend.open(0);
    memory = backend.workspace();
  }

  @AfterEach
  void close() {
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

  /** Its queries' results and gradients, and those of its own keys. */
  @ParameterizedTest
  @ValueSource(ints = {0, 9})
  void aDraftBlockIsTheSameAloneAndAmongOthers(int window) {
    Matrix contextK = random(100, HEADS.keyValueColumns());
    Matrix contextV = random(100, HEADS.keyValueColumns());
    List<Matrix> rows = new ArrayList<>(); // q, blockK, blockV, dOut of three blocks of 24 slots
    for (int columns :
        new int[] {
          HEADS.queryColumns(),
          HEADS.keyValueColumns(),
          HEADS.keyValueColumns(),
          HEADS.queryColumns()
        }) {
      rows.add(random(3 * 24, columns));
    }
    Blocks all = new Blocks(24, new int[] {0, 0, 30}, new int[] {7, 30, 66}, window);
    Blocks one = new Blocks(24, new int[] {0}, new int[] {30}, window);
    List<Matrix> among = attend(rows, contextK, contextV, all);
    List<Matrix> alone =
        attend(rows.stream().map(m -> m.rows(24, 48)).toList(), contextK, contextV, one);
    for (int r = 0; r < alone.size(); r++) {
      assertThat(alone.get(r).toArray())
          .as("result %d", r)
          .isEqualTo(among.get(r).rows(24, 48).toArray());
    }
  }

  /** out, logSumExp, dQ, dBlockK and dBlockV. */
  private List<Matrix> attend(List<Matrix> rows, Matrix contextK, Matrix contextV, Blocks blocks) {
    Matrix q = rows.get(0);
    Matrix blockK = rows.get(1);
    Matrix blockV = rows.get(2);
    Matrix out = memory.matrix(blocks.rows(), HEADS.queryColumns());
    Matrix logs = memory.matrix(blocks.rows(), HEADS.queryHeads());
    Ops ops = backend.ops();
    ops.blockAttention(q, contextK, contextV, blockK, blockV, blocks, HEADS, out, logs);
    BlockAttentionGradients gradients =
        new BlockAttentionGradients(
            memory.matrix(blocks.rows(), HEADS.queryColumns()),
            memory.zeros(contextK.rows(), HEADS.keyValueColumns()),
            memory.zeros(contextK.rows(), HEADS.keyValueColumns()),
            memory.matrix(blocks.rows(), HEADS.keyValueColumns()),
            memory.matrix(blocks.rows(), HEADS.keyValueColumns()));
    ops.blockAttentionBackward(
        gradients, q, contextK, contextV, blockK, blockV, blocks, HEADS, out, logs, rows.get(3));
    return List.of(out, logs, gradients.dQ(), gradients.dBlockK(), gradients.dBlockV());
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
        .hasMessageContaining("at most 128 values, these have 130");
  }

  private Matrix random(int rows, int columns) {
    float[] values = new float[rows * columns];
    for (int i = 0; i < values.length; i++) {
      values[i] = (float) random.nextGaussian();
    }
    return memory.matrix(rows, columns, values);
  }
}
