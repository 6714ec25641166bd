package org.draftmill.compute.cpu;

import java.util.Arrays;
import org.draftmill.compute.host.HostMatrix;

/**
 * The gradients of {@link AttentionTile}: same columns of queries, same blocks of keys. With p the
 * probabilities, rebuilt from the saved log of their sum, {@code D = Σ dOut·out} of a query and
 * {@code dS = p·(dOut·v − D)}: {@code dQ = scale·Σ dS·k}, {@code dK += scale·dS·q}, {@code dV +=
 * p·dOut}.
 */
final class GradientTile {
  private final Kernels kernels;
  private final int headDim;
  private final int columns;
  private final float[] queries;
  private final float[] queryRows;
  private final float[] gradients;
  private final float[] gradientRows;
  private final float[] results;
  private final float[] logSumExp;
  private final float[] mean;
  private final float[] from;
  private final float[] to;
  private final float[] scores;
  private final float[] dScores;
  private final float[] sums;
  private final float[] dQueries;
  private int lanes;
  private int width;

  GradientTile(Kernels kernels, int headDim) {
    this.kernels = kernels;
    this.headDim = headDim;
    int granule = kernels.granule();
    this.columns = (headDim + granule - 1) / granule * granule;
    int panel = kernels.panel();
    queries = new float[headDim * panel];
    gradients = new float[headDim * panel];
    results = new float[headDim * panel];
    queryRows = new float[panel * columns];
    gradientRows = new float[panel * columns];
    dQueries = new float[headDim * panel];
    logSumExp = new float[panel];
    mean = new float[panel];
    from = new float[panel];
    to = new float[panel];
    scores = new float[AttentionTile.KEYS * panel];
    dScores = new float[AttentionTile.KEYS * panel];
    sums = new float[AttentionTile.KEYS * columns];
  }

  int headDim() {
    return headDim;
  }

  void begin(int lanes) {
    this.lanes = lanes;
    width = lanes <= kernels.granule() ? kernels.granule() : kernels.panel();
    if (lanes < width) {
      Arrays.fill(queries, 0, headDim * width, 0f);
      Arrays.fill(gradients, 0, headDim * width, 0f);
      Arrays.fill(results, 0, headDim * width, 0f);
    }
    Arrays.fill(dQueries, 0, headDim * width, 0f);
    Arrays.fill(logSumExp, 0, width, 0f);
    Arrays.fill(from, 0, width, 0f);
    Arrays.fill(to, 0, width, 0f);
  }

  void query(int lane, float[] q, int qo, float scale) {
    for (int c = 0; c < headDim; c++) {
      float value = q[qo + c] * scale;
      queries[c * width + lane] = value;
      queryRows[lane * columns + c] = value;
    }
  }

  void gradient(int lane, float[] dOut, int go, float[] out, int oo) {
    for (int c = 0; c < headDim; c++) {
      gradients[c * width + lane] = dOut[go + c];
      gradientRows[lane * columns + c] = dOut[go + c];
      results[c * width + lane] = out[oo + c];
    }
  }

  void logSumExp(int lane, float value) {
    logSumExp[lane] = value;
  }

  void sees(int lane, int from, int to) {
    this.from[lane] = from;
    this.to[lane] = to;
  }

  /** To be called when all queries and gradients are set. */
  void ready() {
    kernels.columnProducts(gradients, results, headDim, width, mean);
  }

  /** One block of keys; arguments as in {@link AttentionTile#attend}. */
  void attend(
      HostMatrix k,
      HostMatrix v,
      HostMatrix dK,
      HostMatrix dV,
      int row,
      int column,
      int first,
      int count) {
    int seeing = AttentionTile.seeing(from, to, lanes, first, count);
    if (seeing == AttentionTile.NONE) {
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
    kernels.probabilities(
        scores, count, width, seeing == AttentionTile.SOME, from, to, first, logSumExp);
    Arrays.fill(dScores, 0, count * width, 0f);
    kernels.multiplyAdd(
        count,
        width,
        headDim,
        v.data(),
        v.at(row) + column,
        v.columns(),
        1,
        gradients,
        0,
        width,
        dScores,
        0,
        width);
    kernels.scoreGradients(scores, dScores, count, width, mean);
    kernels.multiplyAdd(
        headDim,
        width,
        count,
        k.data(),
        k.at(row) + column,
        1,
        k.columns(),
        dScores,
        0,
        width,
        dQueries,
        0,
        width);
    addToKeys(dScores, queryRows, dK, row, column, count);
    addToKeys(scores, gradientRows, dV, row, column, count);
  }

  /** {@code to(key) += Σ_lane factors(key, lane)·rows(lane)}. */
  private void addToKeys(
      float[] factors, float[] rows, HostMatrix to, int row, int column, int count) {
    int from = to.at(row) + column;
    for (int i = 0; i < count; i++) {
      System.arraycopy(to.data(), from + i * to.columns(), sums, i * columns, headDim);
    }
    for (int first = 0; first < columns; ) {
      int tile = columns - first >= kernels.panel() ? kernels.panel() : kernels.granule();
      kernels.multiplyAdd(
          count, tile, lanes, factors, 0, width, 1, rows, first, columns, sums, first, columns);
      first += tile;
    }
    for (int i = 0; i < count; i++) {
      System.arraycopy(sums, i * columns, to.data(), from + i * to.columns(), headDim);
    }
  }

  /** The gradient of the query in column {@code lane}. */
  void result(int lane, float scale, float[] dQ, int at) {
    for (int c = 0; c < headDim; c++) {
      dQ[at + c] = dQueries[c * width + lane] * scale;
    }
  }
}
