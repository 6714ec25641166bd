package org.draftmill.compute.cpu;

import java.util.Arrays;
import org.draftmill.compute.host.HostMatrix;

/**
 * Softmax attention of up to {@link Kernels#panel()} queries of one key/value head at a time, one
 * query in each column of every matrix: so maxima and sums run down the columns, each query for
 * itself, whichever queries stand beside it and however wide vectors are. Keys come in blocks of at
 * most {@link #KEYS}; a block that a query does not see leaves that query's sums as they are.
 */
final class AttentionTile {
  /** Keys of a block; part of what results are defined by. */
  static final int KEYS = 48;

  private final Kernels kernels;
  private final int headDim;
  private final float[] queries;
  private final float[] scores;
  private final float[] sums;
  private final float[] largest;
  private final float[] total;
  private final float[] decay;
  private final float[] from;
  private final float[] to;
  private int lanes;
  private int width;

  AttentionTile(Kernels kernels, int headDim) {
    this.kernels = kernels;
    this.headDim = headDim;
    int panel = kernels.panel();
    queries = new float[headDim * panel];
    scores = new float[KEYS * panel];
    sums = new float[headDim * panel];
    largest = new float[panel];
    total = new float[panel];
    decay = new float[panel];
    from = new float[panel];
    to = new float[panel];
  }

  int headDim() {
    return headDim;
  }

  /** Begins with {@code lanes} queries, each to be set by {@link #query} and {@link #sees}. */
  void begin(int lanes) {
    this.lanes = lanes;
    width = lanes <= kernels.granule() ? kernels.granule() : kernels.panel();
    if (lanes < width) {
      Arrays.fill(queries, 0, headDim * width, 0f);
    }
    Arrays.fill(sums, 0, headDim * width, 0f);
    Arrays.fill(largest, 0, width, Kernels.LEAST);
    Arrays.fill(total, 0, width, 0f);
    Arrays.fill(from, 0, width, 0f);
    Arrays.fill(to, 0, width, 0f);
  }

  /** The query in column {@code lane}: {@code headDim} values, multiplied by {@code scale}. */
  void query(int lane, float[] q, int qo, float scale) {
    for (int c = 0; c < headDim; c++) {
      queries[c * width + lane] = q[qo + c] * scale;
    }
  }

  /** The query in column {@code lane} sees the keys {@code from … to − 1}. */
  void sees(int lane, int from, int to) {
    this.from[lane] = from;
    this.to[lane] = to;
  }

  /**
   * Attends to the keys {@code first … first + count − 1}, at the rows {@code row …} of k and v,
   * their head from column {@code column} on; at most {@link #KEYS}.
   */
  void attend(HostMatrix k, HostMatrix v, int row, int column, int first, int count) {
    int seeing = seeing(from, to, lanes, first, count);
    if (seeing == NONE) {
      return;
    }
    Arrays.fill(scores, 0, count * width, 0f);
    kernels.multiplyAdd(
        count,
        width,
        headDim,
        k.data(),
        k.at(row) + column,
        k.columns(),
        1,
        queries,
        0,
        width,
        scores,
        0,
        width);
    kernels.softmaxBlock(
        scores, count, width, seeing == SOME, from, to, first, largest, total, decay);
    kernels.scaleColumns(sums, headDim, width, decay);
    kernels.multiplyAdd(
        headDim,
        width,
        count,
        v.data(),
        v.at(row) + column,
        1,
        v.columns(),
        scores,
        0,
        width,
        sums,
        0,
        width);
  }

  /** The result of column {@code lane}: {@code headDim} values. */
  void result(int lane, float[] out, int oo) {
    float factor = 1f / total[lane];
    for (int c = 0; c < headDim; c++) {
      out[oo + c] = sums[c * width + lane] * factor;
    }
  }

  float logSumExp(int lane) {
    return (float) (largest[lane] + StrictMath.log(total[lane]));
  }

  static final int NONE = 0;
  static final int SOME = 1;
  static final int ALL = 2;

  /** Whether none, some or all of the queries see the keys {@code first …}. */
  static int seeing(float[] from, float[] to, int lanes, int first, int count) {
    boolean any = false;
    boolean all = true;
    for (int lane = 0; lane < lanes; lane++) {
      any |= from[lane] < first + count && to[lane] > first && from[lane] < to[lane];
      all &= from[lane] <= first && to[lane] >= first + count;
    }
    return all ? ALL : any ? SOME : NONE;
  }
}
