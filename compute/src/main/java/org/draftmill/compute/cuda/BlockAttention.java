package org.draftmill.compute.cuda;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import org.draftmill.compute.ops.Blocks;
import org.draftmill.compute.ops.Heads;
import org.draftmill.compute.ops.Matrix;
import org.draftmill.compute.ops.Ops.BlockAttentionGradients;

/**
 * Attention of draft blocks over their document's context and themselves, both ways: {@code
 * block_attention.cu}, {@code block_attention_queries.cu} and {@code block_attention_keys.cu}.
 */
final class BlockAttention {
  private static final String FORWARD = "block_attention";
  private static final String OF_QUERIES = "block_attention_queries";
  private static final String OF_KEYS = "block_attention_keys";
  private static final int THREADS = 128;

  /** Slots times heads of a group that a block of threads takes. */
  private static final int LANES = 64;

  /** Keys whose gradients a block of threads computes. */
  private static final int KEYS = 64;

  /** Integers of a tile of keys, as in {@code block_attention_keys.cu}. */
  private static final int TILE = 5;

  private final Launcher launcher;
  private final Scratch scratch;
  private final Rounding rounding;
  private int[] placedStarts = new int[0];
  private int[] placedAnchors = new int[0];
  private Placed placed;

  BlockAttention(Launcher launcher, Scratch scratch, Rounding rounding) {
    this.launcher = launcher;
    this.scratch = scratch;
    this.rounding = rounding;
  }

  /** See {@link org.draftmill.compute.ops.Ops#blockAttention}. */
  void forward(
      Matrix q,
      Matrix contextK,
      Matrix contextV,
      Matrix blockK,
      Matrix blockV,
      Blocks blocks,
      Heads heads,
      Matrix out,
      Matrix logSumExp) {
    if (blocks.rows() == 0) {
      return;
    }
    Placed at = place(blocks);
    int size = HeadSize.padded(heads);
    launcher.launch(
        FORWARD,
        "block_attention_" + size,
        queries(blocks, heads, size),
        CudaMatrix.of(q),
        rounding.heads("attention k", contextK, heads.headDim(), size),
        rounding.heads("attention v", contextV, heads.headDim(), size),
        rounding.heads("attention block k", blockK, heads.headDim(), size),
        rounding.heads("attention block v", blockV, heads.headDim(), size),
        at.contextStart(),
        at.anchor(),
        CudaMatrix.of(out),
        CudaMatrix.of(logSumExp),
        blocks.blockSize(),
        HeadSize.group(heads),
        heads.keyValueHeads(),
        heads.headDim(),
        blocks.window(),
        HeadSize.scale(heads));
  }

  /** See {@link org.draftmill.compute.ops.Ops#blockAttentionBackward}. */
  void backward(
      BlockAttentionGradients gradients,
      Matrix q,
      Matrix contextK,
      Matrix contextV,
      Matrix blockK,
      Matrix blockV,
      Blocks blocks,
      Heads heads,
      Matrix out,
      Matrix logSumExp,
      Matrix dOut) {
    if (blocks.rows() == 0) {
      return;
    }
    Placed at = place(blocks);
    int size = HeadSize.padded(heads);
    Queries queries =
        new Queries(
            rounding.heads("attention q", q, heads.headDim(), size),
            rounding.heads("attention dOut", dOut, heads.headDim(), size),
            CudaMatrix.of(logSumExp),
            delta(out, dOut, heads));
    Piece contextKeys = rounding.heads("attention k", contextK, heads.headDim(), size);
    Piece contextValues = rounding.heads("attention v", contextV, heads.headDim(), size);
    Piece blockKeys = rounding.heads("attention block k", blockK, heads.headDim(), size);
    Piece blockValues = rounding.heads("attention block v", blockV, heads.headDim(), size);
    launcher.launch(
        OF_QUERIES,
        "block_attention_queries_" + size,
        queries(blocks, heads, size),
        queries.q(),
        queries.dOut(),
        queries.logSumExp(),
        queries.delta(),
        contextKeys,
        contextValues,
        blockKeys,
        blockValues,
        at.contextStart(),
        at.anchor(),
        CudaMatrix.of(gradients.dQ()),
        blocks.blockSize(),
        HeadSize.group(heads),
        heads.keyValueHeads(),
        heads.headDim(),
        blocks.window(),
        HeadSize.scale(heads));
    keys(
        queries,
        contextKeys,
        contextValues,
        at,
        at.tiles(),
        at.tiles().size() / TILE,
        gradients.accumulatedDContextK(),
        gradients.accumulatedDContextV(),
        blocks,
        heads);
    int own = Math.multiplyExact(blocks.count(), (blocks.blockSize() + KEYS - 1) / KEYS);
    keys(
        queries,
        blockKeys,
        blockValues,
        at,
        null,
        own,
        gradients.dBlockK(),
        gradients.dBlockV(),
        blocks,
        heads);
  }

  /** What the gradients of queries and of keys take of the queries. */
  private record Queries(Piece q, Piece dOut, CudaMatrix logSumExp, CudaMatrix delta) {}

  private void keys(
      Queries queries,
      Piece k,
      Piece v,
      Placed at,
      CudaInts tiles,
      int count,
      Matrix dK,
      Matrix dV,
      Blocks blocks,
      Heads heads) {
    int size = HeadSize.padded(heads);
    launcher.launch(
        OF_KEYS,
        "block_attention_keys_" + size,
        Grid.of(count, heads.keyValueHeads(), THREADS)
            .withShared(2 * HeadSize.keysAndValues(size) + 1024),
        queries.q(),
        queries.dOut(),
        queries.logSumExp(),
        queries.delta(),
        k,
        v,
        at.anchor(),
        tiles,
        CudaMatrix.of(dK),
        CudaMatrix.of(dV),
        blocks.blockSize(),
        HeadSize.group(heads),
        heads.keyValueHeads(),
        heads.headDim(),
        blocks.window(),
        HeadSize.scale(heads));
  }

  private CudaMatrix delta(Matrix out, Matrix dOut, Heads heads) {
    int count = Math.multiplyExact(out.rows(), heads.queryHeads());
    CudaMatrix delta = scratch.matrix("attention delta", out.rows(), heads.queryHeads());
    launcher.launch(
        OF_QUERIES,
        "block_attention_delta",
        Grid.over((long) count * 32),
        CudaMatrix.of(out),
        CudaMatrix.of(dOut),
        delta,
        heads.headDim(),
        count);
    return delta;
  }

  private static Grid queries(Blocks blocks, Heads heads, int size) {
    int tiles = (blocks.blockSize() * HeadSize.group(heads) + LANES - 1) / LANES;
    return Grid.of(Math.multiplyExact(blocks.count(), tiles), heads.keyValueHeads(), THREADS)
        .withShared(HeadSize.keysAndValues(size));
  }

  /** Where blocks lie, on the device, and the tiles of context that they see. */
  private record Placed(CudaInts contextStart, CudaInts anchor, CudaInts tiles) {}

  /** Every layer of a pass asks for the same blocks. */
  private Placed place(Blocks blocks) {
    if (placed == null
        || !Arrays.equals(placedStarts, blocks.contextStart())
        || !Arrays.equals(placedAnchors, blocks.anchor())) {
      placed =
          new Placed(
              scratch.ints("attention context starts", blocks.contextStart()),
              scratch.ints("attention anchors", blocks.anchor()),
              scratch.ints("attention context tiles", tiles(blocks)));
      placedStarts = blocks.contextStart().clone();
      placedAnchors = blocks.anchor().clone();
    }
    return placed;
  }

  /** The first tiles of all documents first: they are seen by the most blocks. */
  private static int[] tiles(Blocks blocks) {
    List<int[]> tiles = new ArrayList<>();
    int[] starts = blocks.contextStart();
    for (int first = 0, end; first < starts.length; first = end) {
      int keys = 0;
      for (end = first; end < starts.length && starts[end] == starts[first]; end++) {
        keys = Math.max(keys, blocks.anchor()[end]);
      }
      for (int key = 0; key < keys; key += KEYS) {
        tiles.add(new int[] {starts[first], key, keys, first, end});
      }
    }
    tiles.sort(Comparator.comparingInt(tile -> tile[1]));
    return tiles.stream().flatMapToInt(Arrays::stream).toArray();
  }
}
