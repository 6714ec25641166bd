package org.draftmill.compute.cuda;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import org.draftmill.compute.ops.Heads;
import org.draftmill.compute.ops.Matrix;

/**
 * Causal attention of packed documents and of the last rows of one sequence over its cache: {@code
 * attention.cu}, the same kernel for both.
 */
final class SequenceAttention {
  private static final String FAMILY = "attention";
  private static final int THREADS = 128;

  /** Query rows times heads of a group that a block of threads takes. */
  private static final int LANES = 64;

  private final Launcher launcher;
  private final Scratch scratch;
  private final Rounding rounding;
  private Packing packing; // of the tiles below
  private CudaInts tiles;

  SequenceAttention(Launcher launcher, Scratch scratch, Rounding rounding) {
    this.launcher = launcher;
    this.scratch = scratch;
    this.rounding = rounding;
  }

  /** See {@link org.draftmill.compute.ops.Ops#causalAttention}. */
  void causal(
      Matrix q, Matrix k, Matrix v, int[] documentStarts, Heads heads, int window, Matrix out) {
    Packing wanted = new Packing(documentStarts.clone(), 0, HeadSize.group(heads));
    attend(q, k, v, wanted, heads, window, out);
  }

  /** See {@link org.draftmill.compute.ops.Ops#cachedAttention}. */
  void cached(Matrix q, Matrix k, Matrix v, int length, Heads heads, int window, Matrix out) {
    int[] starts = {0, q.rows()};
    Packing wanted = new Packing(starts, length - q.rows(), HeadSize.group(heads));
    attend(q, k.rows(0, length), v.rows(0, length), wanted, heads, window, out);
  }

  private void attend(
      Matrix q, Matrix k, Matrix v, Packing wanted, Heads heads, int window, Matrix out) {
    if (q.rows() == 0) {
      return;
    }
    if (!wanted.equals(packing)) {
      tiles = scratch.ints("attention tiles", wanted.tiles());
      packing = wanted;
    }
    int padded = HeadSize.padded(heads);
    launcher.launch(
        FAMILY,
        "causal_attention_" + padded,
        Grid.of(tiles.size() / Packing.TILE, heads.keyValueHeads(), THREADS)
            .withShared(HeadSize.keysAndValues(padded)),
        CudaMatrix.of(q),
        rounding.heads("attention k", k, heads.headDim(), padded),
        rounding.heads("attention v", v, heads.headDim(), padded),
        tiles,
        CudaMatrix.of(out),
        HeadSize.group(heads),
        heads.keyValueHeads(),
        heads.headDim(),
        window,
        HeadSize.scale(heads));
  }

  /**
   * What the tiles depend on; every layer of a pass asks for the same.
   *
   * @param starts rows of q where sequences begin, and rows of their keys
   * @param firstPosition the position of a sequence's first query
   */
  private record Packing(int[] starts, int firstPosition, int group) {
    /** Integers of a tile, as in {@code attention.cu}. */
    static final int TILE = 5;

    /** Those with the most keys first, so that the last ones to run are short. */
    int[] tiles() {
      List<int[]> all = new ArrayList<>();
      for (int s = 0; s + 1 < starts.length; s++) {
        int queries = starts[s + 1] - starts[s];
        for (int lane = 0; lane < queries * group; lane += LANES) {
          all.add(new int[] {starts[s], queries, starts[s], firstPosition, lane});
        }
      }
      all.sort(Comparator.comparingInt(tile -> -tile[4]));
      return all.stream().flatMapToInt(Arrays::stream).toArray();
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Packing that
          && group == that.group
          && firstPosition == that.firstPosition
          && Arrays.equals(starts, that.starts);
    }

    @Override
    public int hashCode() {
      return Arrays.hashCode(starts) + 31 * (firstPosition + 31 * group);
    }
  }
}
