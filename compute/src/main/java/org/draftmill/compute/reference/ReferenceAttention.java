package org.draftmill.compute.reference;

import org.draftmill.compute.host.HostMatrix;
import org.draftmill.compute.ops.Blocks;
import org.draftmill.compute.ops.Heads;
import org.draftmill.compute.ops.Ops.BlockAttentionGradients;

/**
 * Softmax attention, one query row and head at a time. The keys that a query of a draft block sees
 * are listed in one order: its context, then its own block.
 */
final class ReferenceAttention {
  private final HostMatrix q;
  private final HostMatrix contextK;
  private final HostMatrix contextV;
  private final HostMatrix blockK;
  private final HostMatrix blockV;
  private final Blocks blocks;
  private final Heads heads;

  ReferenceAttention(
      HostMatrix q,
      HostMatrix contextK,
      HostMatrix contextV,
      HostMatrix blockK,
      HostMatrix blockV,
      Blocks blocks,
      Heads heads) {
    this.q = q;
    this.contextK = contextK;
    this.contextV = contextV;
    this.blockK = blockK;
    this.blockV = blockV;
    this.blocks = blocks;
    this.heads = heads;
  }

  /** Rows of q are the last positions of a sequence of {@code length} keys. */
  static void cached(
      HostMatrix q,
      HostMatrix k,
      HostMatrix v,
      int length,
      Heads heads,
      int window,
      HostMatrix out) {
    for (int i = 0; i < q.rows(); i++) {
      int position = length - q.rows() + i;
      int first = window > 0 ? Math.max(0, position + 1 - window) : 0;
      for (int head = 0; head < heads.queryHeads(); head++) {
        int keyHead = keyHead(heads, head);
        double[] p = new double[position + 1 - first];
        for (int j = 0; j < p.length; j++) {
          p[j] = score(q, i, head, k, first + j, keyHead, heads);
        }
        softmax(p);
        double[] sum = new double[heads.headDim()];
        for (int j = 0; j < p.length; j++) {
          addScaled(p[j], v, first + j, keyHead, sum);
        }
        store(sum, out, i, head);
      }
    }
  }

  void forward(HostMatrix out, HostMatrix logSumExp) {
    for (int row = 0; row < q.rows(); row++) {
      for (int head = 0; head < heads.queryHeads(); head++) {
        Seen seen = seenBy(row);
        double[] p = scores(seen, row, head);
        double log = softmax(p);
        logSumExp.data()[logSumExp.at(row) + head] = (float) log;
        double[] sum = new double[heads.headDim()];
        for (int j = 0; j < p.length; j++) {
          addScaled(p[j], seen.values(j), seen.row(j), keyHead(heads, head), sum);
        }
        store(sum, out, row, head);
      }
    }
  }

  /**
   * With {@code p} the softmax of a row: {@code dP_j = dOut·v_j}, {@code dS_j = p_j·(dP_j − Σ
   * p·dP)}, {@code dQ = scale·Σ dS_j·k_j}, {@code dK_j += scale·dS_j·q}, {@code dV_j += p_j·dOut}.
   */
  void backward(BlockAttentionGradients gradients, HostMatrix dOut) {
    int headDim = heads.headDim();
    int group = heads.queryHeads() / heads.keyValueHeads();
    double[] dContextK = new double[contextK.size()];
    double[] dContextV = new double[contextV.size()];
    double[] dBlockK = new double[blockK.size()];
    double[] dBlockV = new double[blockV.size()];
    double scale = 1 / Math.sqrt(headDim);
    for (int row = 0; row < q.rows(); row++) {
      for (int head = 0; head < heads.queryHeads(); head++) {
        Seen seen = seenBy(row);
        double[] p = scores(seen, row, head);
        softmax(p);
        double[] dP = new double[p.length];
        double mean = 0;
        for (int j = 0; j < p.length; j++) {
          dP[j] = dot(dOut, row, head, seen.values(j), seen.row(j), head / group, headDim);
          mean += p[j] * dP[j];
        }
        double[] dQ = new double[headDim];
        for (int j = 0; j < p.length; j++) {
          double dScore = p[j] * (dP[j] - mean) * scale;
          addScaled(dScore, seen.keys(j), seen.row(j), head / group, dQ);
          double[] dK = seen.inContext(j) ? dContextK : dBlockK;
          double[] dV = seen.inContext(j) ? dContextV : dBlockV;
          int at = seen.row(j) * heads.keyValueColumns() + head / group * headDim;
          for (int c = 0; c < headDim; c++) {
            dK[at + c] += dScore * q.data()[q.at(row) + head * headDim + c];
            dV[at + c] += p[j] * dOut.data()[dOut.at(row) + head * headDim + c];
          }
        }
        store(dQ, HostMatrix.of(gradients.dQ()), row, head);
      }
    }
    add(dContextK, HostMatrix.of(gradients.accumulatedDContextK()), true);
    add(dContextV, HostMatrix.of(gradients.accumulatedDContextV()), true);
    add(dBlockK, HostMatrix.of(gradients.dBlockK()), false);
    add(dBlockV, HostMatrix.of(gradients.dBlockV()), false);
  }

  private Seen seenBy(int row) {
    int size = blocks.blockSize();
    int block = row / size;
    int slot = row % size;
    int anchor = blocks.anchor()[block];
    boolean sliding = blocks.window() > 0;
    int first = sliding ? Math.min(anchor, Math.max(0, anchor + slot - blocks.window() + 1)) : 0;
    int start = blocks.contextStart()[block];
    int own = sliding ? slot + 1 : size;
    return new Seen(start + first, anchor - first, block * size, own);
  }

  private double[] scores(Seen seen, int row, int head) {
    double[] scores = new double[seen.count()];
    for (int j = 0; j < scores.length; j++) {
      scores[j] = score(q, row, head, seen.keys(j), seen.row(j), keyHead(heads, head), heads);
    }
    return scores;
  }

  /** What one query sees: {@code context} rows from {@code contextRow}, then its own block. */
  private final class Seen {
    private final int contextRow;
    private final int context;
    private final int blockRow;
    private final int own;

    Seen(int contextRow, int context, int blockRow, int own) {
      this.contextRow = contextRow;
      this.context = context;
      this.blockRow = blockRow;
      this.own = own;
    }

    int count() {
      return context + own;
    }

    boolean inContext(int j) {
      return j < context;
    }

    int row(int j) {
      return inContext(j) ? contextRow + j : blockRow + j - context;
    }

    HostMatrix keys(int j) {
      return inContext(j) ? contextK : blockK;
    }

    HostMatrix values(int j) {
      return inContext(j) ? contextV : blockV;
    }
  }

  private static int keyHead(Heads heads, int queryHead) {
    return queryHead / (heads.queryHeads() / heads.keyValueHeads());
  }

  private static double score(
      HostMatrix q, int row, int head, HostMatrix k, int keyRow, int keyHead, Heads heads) {
    return dot(q, row, head, k, keyRow, keyHead, heads.headDim()) / Math.sqrt(heads.headDim());
  }

  private static double dot(
      HostMatrix x, int row, int head, HostMatrix y, int otherRow, int otherHead, int headDim) {
    int a = x.at(row) + head * headDim;
    int b = y.at(otherRow) + otherHead * headDim;
    double sum = 0;
    for (int c = 0; c < headDim; c++) {
      sum += (double) x.data()[a + c] * y.data()[b + c];
    }
    return sum;
  }

  /** In place; returns the natural log of the sum of exponentials. */
  static double softmax(double[] scores) {
    double largest = Double.NEGATIVE_INFINITY;
    for (double score : scores) {
      largest = Math.max(largest, score);
    }
    double sum = 0;
    for (int j = 0; j < scores.length; j++) {
      scores[j] = Math.exp(scores[j] - largest);
      sum += scores[j];
    }
    for (int j = 0; j < scores.length; j++) {
      scores[j] /= sum;
    }
    return largest + Math.log(sum);
  }

  private static void addScaled(double factor, HostMatrix x, int row, int head, double[] sum) {
    int at = x.at(row) + head * sum.length;
    for (int c = 0; c < sum.length; c++) {
      sum[c] += factor * x.data()[at + c];
    }
  }

  private static void store(double[] values, HostMatrix to, int row, int head) {
    int at = to.at(row) + head * values.length;
    for (int c = 0; c < values.length; c++) {
      to.data()[at + c] = (float) values[c];
    }
  }

  private static void add(double[] values, HostMatrix to, boolean accumulate) {
    for (int i = 0; i < values.length; i++) {
      double before = accumulate ? to.data()[to.offset() + i] : 0;
      to.data()[to.offset() + i] = (float) (before + values[i]);
    }
  }
}
