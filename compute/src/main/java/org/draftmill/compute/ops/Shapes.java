package org.draftmill.compute.ops;

import org.draftmill.compute.ops.Ops.BlockAttentionGradients;

/**
 * The shapes that each operation of {@link Ops} asks for, checked before anything is computed. A
 * wrong shape is a mistake in the program: {@link IllegalArgumentException} names the argument, its
 * shape and the one wanted.
 */
public final class Shapes {
  private Shapes() {}

  /** Shapes of {@link Ops#embed} and {@link Ops#gatherRows}. */
  public static void gather(Matrix table, Ints rows, Matrix out) {
    want("out", out, rows.size(), table.columns());
  }

  /** Shapes of {@link Ops#scatterAddRows}. */
  public static void scatter(Matrix x, Ints rows, Matrix accumulated) {
    want("x", x, rows.size(), accumulated.columns());
  }

  public static void copyIntoColumns(Matrix x, Matrix out, int column) {
    if (out.rows() != x.rows() || column < 0 || column + x.columns() > out.columns()) {
      throw new IllegalArgumentException(
          shape(x) + " does not fit into the columns from " + column + " of " + shape(out));
    }
  }

  /** Every matrix has the shape of the first. */
  public static void equal(Matrix first, Matrix... others) {
    for (Matrix other : others) {
      want("an operand", other, first.rows(), first.columns());
    }
  }

  public static void addBias(Matrix x, Matrix bias) {
    want("bias", bias, 1, x.columns());
  }

  public static void rmsNorm(Matrix x, Matrix weight, Matrix out) {
    if (weight.rows() != 1 || x.columns() % weight.columns() != 0) {
      throw new IllegalArgumentException(
          "a norm weight of " + shape(weight) + " does not divide the columns of " + shape(x));
    }
    want("out", out, x.rows(), x.columns());
  }

  public static void rope(Matrix x, Ints positions, RopeTable table) {
    if (x.rows() != positions.size() || x.columns() % table.headDim() != 0) {
      throw new IllegalArgumentException(
          positions.size()
              + " positions and heads of "
              + table.headDim()
              + " columns do not fit "
              + shape(x));
    }
  }

  /** x {@code [n, inputs]} and out {@code [n, outputs]} of a product with {@code w}. */
  public static void linear(Matrix x, Weight w, Matrix out) {
    want("inputs", x, x.rows(), w.inputs());
    want("outputs", out, x.rows(), w.outputs());
  }

  public static void linearBackwardWeight(Matrix dOut, Matrix x, Matrix accumulatedDW) {
    want("x", x, dOut.rows(), x.columns());
    want("dW", accumulatedDW, dOut.columns(), x.columns());
  }

  public static void causalAttention(
      Matrix q, Matrix k, Matrix v, int[] documentStarts, Heads heads, Matrix out) {
    want("q", q, q.rows(), heads.queryColumns());
    want("k", k, q.rows(), heads.keyValueColumns());
    want("v", v, q.rows(), heads.keyValueColumns());
    want("out", out, q.rows(), heads.queryColumns());
    int previous = 0;
    for (int start : documentStarts) {
      if (start < previous) {
        throw new IllegalArgumentException("document starts must ascend, found " + start);
      }
      previous = start;
    }
    if (documentStarts.length == 0 || documentStarts[0] != 0 || previous != q.rows()) {
      throw new IllegalArgumentException(
          "documents must cover the rows 0 to " + q.rows() + ", found an end at " + previous);
    }
  }

  public static void cachedAttention(
      Matrix q, Matrix k, Matrix v, int length, Heads heads, Matrix out) {
    want("q", q, q.rows(), heads.queryColumns());
    want("out", out, q.rows(), heads.queryColumns());
    want("v", v, k.rows(), heads.keyValueColumns());
    want("k", k, k.rows(), heads.keyValueColumns());
    if (length < q.rows() || length > k.rows()) {
      throw new IllegalArgumentException(
          "a length of "
              + length
              + " must lie between the "
              + q.rows()
              + " new rows and the "
              + k.rows()
              + " rows of the cache");
    }
  }

  public static void blockAttention(
      Matrix q,
      Matrix contextK,
      Matrix contextV,
      Matrix blockK,
      Matrix blockV,
      Blocks blocks,
      Heads heads,
      Matrix out,
      Matrix logSumExp) {
    want("q", q, blocks.rows(), heads.queryColumns());
    want("contextK", contextK, contextK.rows(), heads.keyValueColumns());
    want("contextV", contextV, contextK.rows(), heads.keyValueColumns());
    want("blockK", blockK, blocks.rows(), heads.keyValueColumns());
    want("blockV", blockV, blocks.rows(), heads.keyValueColumns());
    want("out", out, blocks.rows(), heads.queryColumns());
    want("logSumExp", logSumExp, blocks.rows(), heads.queryHeads());
    for (int b = 0; b < blocks.count(); b++) {
      int start = blocks.contextStart()[b];
      int anchor = blocks.anchor()[b];
      if (start < 0 || anchor < 0 || start + anchor > contextK.rows()) {
        throw new IllegalArgumentException(
            "block "
                + b
                + " at anchor "
                + anchor
                + " of the document at row "
                + start
                + " reaches past the "
                + contextK.rows()
                + " context rows");
      }
      if (b > 0 && start < blocks.contextStart()[b - 1]) {
        throw new IllegalArgumentException("blocks must be grouped by document, in order");
      }
    }
  }

  public static void blockAttentionBackward(
      BlockAttentionGradients gradients,
      Matrix q,
      Matrix contextK,
      Matrix blockK,
      Matrix out,
      Matrix dOut) {
    equal(q, gradients.dQ(), out, dOut);
    equal(contextK, gradients.accumulatedDContextK(), gradients.accumulatedDContextV());
    equal(blockK, gradients.dBlockK(), gradients.dBlockV());
  }

  public static void headLoss(
      Matrix x, Weight head, Matrix teacherStates, HeadLoss loss, Matrix dX) {
    int slots = loss.labels().length;
    want("x", x, slots, head.inputs());
    if (dX != null) {
      want("dX", dX, slots, head.inputs());
    }
    int perBlock = loss.slotsPerBlock();
    if (perBlock < 1 || slots % perBlock != 0 || loss.supervised().length != slots) {
      throw new IllegalArgumentException(
          slots
              + " labels and "
              + loss.supervised().length
              + " supervised flags do not make whole blocks of "
              + perBlock
              + " slots");
    }
    if (loss.chunkRows() < perBlock || loss.chunkRows() % perBlock != 0) {
      throw new IllegalArgumentException(
          "chunks of " + loss.chunkRows() + " rows do not hold whole blocks of " + perBlock);
    }
    for (int label : loss.labels()) {
      if (label < 0 || label >= head.outputs()) {
        throw new IllegalArgumentException(
            "label " + label + " is outside the vocabulary of " + head.outputs());
      }
    }
    if (loss.settings().useSoftLabels()) {
      if (teacherStates == null || loss.teacherRows() == null) {
        throw new IllegalArgumentException("soft labels need the target's final states");
      }
      want("teacherStates", teacherStates, teacherStates.rows(), head.inputs());
      if (loss.teacherRows().length != slots) {
        throw new IllegalArgumentException(
            loss.teacherRows().length + " teacher rows for " + slots + " slots");
      }
    }
  }

  private static void want(String name, Matrix matrix, int rows, int columns) {
    if (matrix.rows() != rows || matrix.columns() != columns) {
      throw new IllegalArgumentException(
          name + " is " + shape(matrix) + ", wanted [" + rows + ", " + columns + "]");
    }
  }

  private static String shape(Matrix matrix) {
    return "[" + matrix.rows() + ", " + matrix.columns() + "]";
  }
}
