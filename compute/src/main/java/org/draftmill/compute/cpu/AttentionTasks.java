package org.draftmill.compute.cpu;

import java.util.List;
import org.draftmill.compute.cpu.SequenceAttention.Sequence;
import org.draftmill.compute.host.HostMatrix;
import org.draftmill.compute.ops.Heads;
import org.draftmill.compute.ops.Ops.BlockAttentionGradients;

/**
 * Cuts attention into tasks: a tile of queries of one sequence and key/value head forward, a whole
 * document and head backward. Keeps the tiles' memory, one for each thread.
 */
final class AttentionTasks {
  private final Kernels kernels;
  private final Parallel parallel;
  private final AttentionTile[] attentionTiles;
  private final GradientTile[] gradientTiles;

  AttentionTasks(Kernels kernels, Parallel parallel) {
    this.kernels = kernels;
    this.parallel = parallel;
    this.attentionTiles = new AttentionTile[parallel.threads()];
    this.gradientTiles = new GradientTile[parallel.threads()];
  }

  /** All sequences and heads. */
  void causal(SequenceAttention attention, Heads heads, Sequence... sequences) {
    int panel = kernels.panel();
    int[] firstTask = new int[sequences.length + 1];
    long cost = 0;
    for (int n = 0; n < sequences.length; n++) {
      firstTask[n + 1] =
          firstTask[n] + attention.tiles(sequences[n], panel) * heads.keyValueHeads();
      cost += attention.cost(sequences[n]);
    }
    parallel.run(
        firstTask[sequences.length],
        cost,
        (task, worker) -> {
          int n = 0;
          while (firstTask[n + 1] <= task) {
            n++;
          }
          int within = task - firstTask[n];
          attention.tile(
              attentionTile(worker, heads),
              panel,
              sequences[n],
              within % heads.keyValueHeads(),
              within / heads.keyValueHeads());
        });
  }

  private AttentionTile attentionTile(int worker, Heads heads) {
    AttentionTile tile = attentionTiles[worker];
    if (tile == null || tile.headDim() != heads.headDim()) {
      tile = new AttentionTile(kernels, heads.headDim());
      attentionTiles[worker] = tile;
    }
    return tile;
  }

  private GradientTile gradientTile(int worker, Heads heads) {
    GradientTile tile = gradientTiles[worker];
    if (tile == null || tile.headDim() != heads.headDim()) {
      tile = new GradientTile(kernels, heads.headDim());
      gradientTiles[worker] = tile;
    }
    return tile;
  }

  /** All draft blocks, forward. */
  void blocks(BlockAttention attention, Heads heads) {
    attention.forward(parallel, kernels.panel(), worker -> attentionTile(worker, heads));
  }

  /** All draft blocks, backward. */
  void blocksBackward(
      BlockAttention attention, Heads heads, BlockAttentionGradients gradients, HostMatrix dOut) {
    List<BlockLanes> documents = attention.documents();
    parallel.run(
        documents.size() * heads.keyValueHeads(),
        3 * attention.cost(),
        (task, worker) ->
            attention.backward(
                gradientTile(worker, heads),
                kernels.panel(),
                documents.get(task / heads.keyValueHeads()),
                task % heads.keyValueHeads(),
                gradients,
                dOut));
  }
}
