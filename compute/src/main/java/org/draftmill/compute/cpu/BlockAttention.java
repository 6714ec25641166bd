package org.draftmill.compute.cpu;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntFunction;
import org.draftmill.compute.host.HostMatrix;
import org.draftmill.compute.ops.Blocks;
import org.draftmill.compute.ops.Heads;
import org.draftmill.compute.ops.Ops.BlockAttentionGradients;

/** Attention of draft blocks over their document's context and themselves, both ways. */
final class BlockAttention {
  private final HostMatrix q;
  private final HostMatrix contextK;
  private final HostMatrix contextV;
  private final HostMatrix blockK;
  private final HostMatrix blockV;
  private final Blocks blocks;
  private final Heads heads;
  private final HostMatrix out;
  private final HostMatrix logSumExp;
  private final float scale;

  BlockAttention(
      HostMatrix q,
      HostMatrix contextK,
      HostMatrix contextV,
      HostMatrix blockK,
      HostMatrix blockV,
      Blocks blocks,
      Heads heads,
      HostMatrix out,
      HostMatrix logSumExp) {
    this.q = q;
    this.contextK = contextK;
    this.contextV = contextV;
    this.blockK = blockK;
    this.blockV = blockV;
    this.blocks = blocks;
    this.heads = heads;
    this.out = out;
    this.logSumExp = logSumExp;
    this.scale = (float) (1 / Math.sqrt(heads.headDim()));
  }

  /** The lanes of every document. */
  List<BlockLanes> documents() {
    List<BlockLanes> documents = new ArrayList<>();
    int[] starts = blocks.contextStart();
    int first = 0;
    for (int b = 1; b <= starts.length; b++) {
      if (b == starts.length || starts[b] != starts[first]) {
        documents.add(new BlockLanes(blocks, heads, first, b - first));
        first = b;
      }
    }
    return documents;
  }

  /** Multiplications of the forward pass. */
  long cost() {
    long keys = blocks.rows();
    for (int anchor : blocks.anchor()) {
      keys += anchor;
    }
    return 2L * keys * blocks.blockSize() * heads.queryColumns();
  }

  /** All documents and key/value heads, a tile of {@code panel} queries at a time. */
  void forward(Parallel parallel, int panel, IntFunction<AttentionTile> tileOfWorker) {
    List<BlockLanes> documents = documents();
    int[] firstTask = new int[documents.size() + 1];
    for (int n = 0; n < documents.size(); n++) {
      int tiles = (documents.get(n).lanes() + panel - 1) / panel;
      firstTask[n + 1] = firstTask[n] + tiles * heads.keyValueHeads();
    }
    parallel.run(
        firstTask[documents.size()],
        cost(),
        (task, worker) -> {
          int n = 0;
          while (firstTask[n + 1] <= task) {
            n++;
          }
          int within = task - firstTask[n];
          BlockLanes lanes = documents.get(n);
          int first = within / heads.keyValueHeads() * panel;
          int count = Math.min(panel, lanes.lanes() - first);
          forward(tileOfWorker.apply(worker), lanes, within % heads.keyValueHeads(), first, count);
        });
  }

  /** The lanes {@code first … first + count − 1} of a document and key/value head. */
  private void forward(AttentionTile tile, BlockLanes lanes, int keyHead, int first, int count) {
    int headDim = heads.headDim();
    tile.begin(count);
    for (int i = 0; i < count; i++) {
      int lane = first + i;
      tile.query(i, q.data(), q.at(lanes.row(lane)) + lanes.head(lane, keyHead) * headDim, scale);
    }
    visit(
        lanes,
        keyHead,
        first,
        count,
        tile::sees,
        (context, row, column, key, keys) ->
            tile.attend(
                context ? contextK : blockK, context ? contextV : blockV, row, column, key, keys));
    for (int i = 0; i < count; i++) {
      int row = lanes.row(first + i);
      int head = lanes.head(first + i, keyHead);
      tile.result(i, out.data(), out.at(row) + head * headDim);
      logSumExp.data()[logSumExp.at(row) + head] = tile.logSumExp(i);
    }
  }

  /**
   * Gradients of one document and key/value head, tile after tile: what is added to a key comes in
   * the order of the lanes.
   */
  void backward(
      GradientTile tile,
      int panel,
      BlockLanes lanes,
      int keyHead,
      BlockAttentionGradients gradients,
      HostMatrix dOut) {
    HostMatrix dQ = HostMatrix.of(gradients.dQ());
    HostMatrix dContextK = HostMatrix.of(gradients.accumulatedDContextK());
    HostMatrix dContextV = HostMatrix.of(gradients.accumulatedDContextV());
    HostMatrix dBlockK = HostMatrix.of(gradients.dBlockK());
    HostMatrix dBlockV = HostMatrix.of(gradients.dBlockV());
    int headDim = heads.headDim();
    clear(dBlockK, lanes, keyHead);
    clear(dBlockV, lanes, keyHead);
    for (int first = 0; first < lanes.lanes(); first += panel) {
      int count = Math.min(panel, lanes.lanes() - first);
      tile.begin(count);
      for (int i = 0; i < count; i++) {
        int row = lanes.row(first + i);
        int head = lanes.head(first + i, keyHead);
        int column = head * headDim;
        tile.query(i, q.data(), q.at(row) + column, scale);
        tile.gradient(i, dOut.data(), dOut.at(row) + column, out.data(), out.at(row) + column);
        tile.logSumExp(i, logSumExp.data()[logSumExp.at(row) + head]);
      }
      tile.ready();
      visit(
          lanes,
          keyHead,
          first,
          count,
          tile::sees,
          (context, row, column, key, keys) -> {
            if (context) {
              tile.attend(contextK, contextV, dContextK, dContextV, row, column, key, keys);
            } else {
              tile.attend(blockK, blockV, dBlockK, dBlockV, row, column, key, keys);
            }
          });
      for (int i = 0; i < count; i++) {
        int column = lanes.head(first + i, keyHead) * headDim;
        tile.result(i, scale, dQ.data(), dQ.at(lanes.row(first + i)) + column);
      }
    }
  }

  private void clear(HostMatrix x, BlockLanes lanes, int keyHead) {
    int size = blocks.blockSize();
    int column = keyHead * heads.headDim();
    for (int row = lanes.firstBlock() * size; row < lanes.endBlock() * size; row++) {
      Arrays.fill(x.data(), x.at(row) + column, x.at(row) + column + heads.headDim(), 0f);
    }
  }

  private interface Range {
    void sees(int lane, int from, int to);
  }

  private interface Keys {
    void attend(boolean context, int row, int column, int key, int keys);
  }

  /** Goes through the blocks of keys that some lanes see: context first, then their own blocks. */
  private void visit(BlockLanes lanes, int keyHead, int first, int count, Range range, Keys keys) {
    int column = keyHead * heads.headDim();
    int window = blocks.window();
    int begin = Integer.MAX_VALUE;
    int end = 0;
    for (int i = 0; i < count; i++) {
      int to = blocks.anchor()[lanes.block(first + i)];
      int from = window == 0 ? 0 : to + lanes.slot(first + i) + 1 - window;
      from = Math.min(to, Math.max(0, from));
      range.sees(i, from, to);
      if (from < to) {
        begin = Math.min(begin, from);
        end = Math.max(end, to);
      }
    }
    if (begin < end) {
      for (int key = begin - begin % AttentionTile.KEYS; key < end; key += AttentionTile.KEYS) {
        int some = Math.min(AttentionTile.KEYS, end - key);
        keys.attend(true, lanes.contextRow() + key, column, key, some);
      }
    }
    visitOwn(lanes, column, first, count, range, keys);
  }

  /**
   * The blocks' own keys, those of as many whole blocks at a time as a block of keys holds: so what
   * a query sees of its own block comes the same way whichever blocks stand beside it.
   */
  private void visitOwn(
      BlockLanes lanes, int column, int first, int count, Range range, Keys keys) {
    int size = blocks.blockSize();
    int last = lanes.block(first + count - 1);
    int together = Math.max(1, AttentionTile.KEYS / size);
    for (int b = lanes.block(first); b <= last; b += together) {
      int end = Math.min(last + 1, b + together);
      for (int i = 0; i < count; i++) {
        int block = lanes.block(first + i);
        if (block < b || block >= end) {
          range.sees(i, 0, 0);
        } else {
          int from = (block - b) * size;
          range.sees(i, from, from + (blocks.window() == 0 ? size : lanes.slot(first + i) + 1));
        }
      }
      for (int key = 0; key < (end - b) * size; key += AttentionTile.KEYS) {
        int some = Math.min(AttentionTile.KEYS, (end - b) * size - key);
        keys.attend(false, b * size + key, column, key, some);
      }
    }
  }
}
