package org.draftmill.compute.reference;

import static org.draftmill.compute.host.HostMatrix.of;

import org.draftmill.compute.host.HostInts;
import org.draftmill.compute.host.HostMatrix;
import org.draftmill.compute.ops.Blocks;
import org.draftmill.compute.ops.HeadLoss;
import org.draftmill.compute.ops.Heads;
import org.draftmill.compute.ops.Ints;
import org.draftmill.compute.ops.Matrix;
import org.draftmill.compute.ops.Ops;
import org.draftmill.compute.ops.RopeTable;
import org.draftmill.compute.ops.Shapes;
import org.draftmill.compute.ops.Weight;
import org.draftmill.compute.ops.Workspace;
import org.draftmill.compute.reference.ReferenceBackend.PlainWeight;

/** Every operation as its formula says; attention and loss are in classes of their own. */
final class ReferenceOps implements Ops {

  @Override
  public void embed(Matrix table, Ints ids, Matrix out) {
    gatherRows(table, ids, out);
  }

  @Override
  public void gatherRows(Matrix x, Ints rows, Matrix out) {
    Shapes.gather(x, rows, out);
    HostMatrix from = of(x);
    HostMatrix to = of(out);
    int[] row = HostInts.of(rows);
    for (int i = 0; i < row.length; i++) {
      System.arraycopy(from.data(), from.at(row[i]), to.data(), to.at(i), x.columns());
    }
  }

  @Override
  public void scatterAddRows(Matrix x, Ints rows, Matrix accumulated) {
    Shapes.scatter(x, rows, accumulated);
    HostMatrix from = of(x);
    HostMatrix to = of(accumulated);
    int[] row = HostInts.of(rows);
    for (int i = 0; i < row.length; i++) {
      for (int c = 0; c < x.columns(); c++) {
        to.data()[to.at(row[i]) + c] += from.data()[from.at(i) + c];
      }
    }
  }

  @Override
  public void copyIntoColumns(Matrix x, Matrix out, int column) {
    Shapes.copyIntoColumns(x, out, column);
    HostMatrix from = of(x);
    HostMatrix to = of(out);
    for (int i = 0; i < x.rows(); i++) {
      System.arraycopy(from.data(), from.at(i), to.data(), to.at(i) + column, x.columns());
    }
  }

  @Override
  public void add(Matrix x, Matrix y, Matrix out) {
    Shapes.equal(x, y, out);
    HostMatrix a = of(x);
    HostMatrix b = of(y);
    HostMatrix to = of(out);
    for (int i = 0; i < a.size(); i++) {
      to.data()[to.offset() + i] = a.data()[a.offset() + i] + b.data()[b.offset() + i];
    }
  }

  @Override
  public void addBias(Matrix x, Matrix bias) {
    Shapes.addBias(x, bias);
    HostMatrix to = of(x);
    HostMatrix b = of(bias);
    for (int i = 0; i < x.rows(); i++) {
      for (int c = 0; c < x.columns(); c++) {
        to.data()[to.at(i) + c] += b.data()[b.offset() + c];
      }
    }
  }

  @Override
  public void rmsNorm(Matrix x, Matrix weight, float eps, Matrix out) {
    Shapes.rmsNorm(x, weight, out);
    HostMatrix in = of(x);
    HostMatrix w = of(weight);
    HostMatrix to = of(out);
    int group = weight.columns();
    for (int at = 0; at < in.size(); at += group) {
      double scale = inverseRootMeanSquare(in, at, group, eps);
      for (int c = 0; c < group; c++) {
        double value = in.data()[in.offset() + at + c] * scale * w.data()[w.offset() + c];
        to.data()[to.offset() + at + c] = (float) value;
      }
    }
  }

  /**
   * With {@code s = 1/sqrt(mean(x²) + eps)} and {@code g = dOut·weight}: {@code dX = s·(g − x·s²·
   * mean(g·x))}, {@code dWeight = Σ dOut·x·s}.
   */
  @Override
  public void rmsNormBackward(
      Matrix x, Matrix weight, float eps, Matrix dOut, Matrix dX, Matrix accumulatedDWeight) {
    Shapes.rmsNorm(x, weight, dX);
    Shapes.equal(x, dOut);
    Shapes.equal(weight, accumulatedDWeight);
    HostMatrix in = of(x);
    HostMatrix w = of(weight);
    HostMatrix d = of(dOut);
    HostMatrix to = of(dX);
    HostMatrix total = of(accumulatedDWeight);
    int group = weight.columns();
    double[] dWeight = new double[group];
    for (int at = 0; at < in.size(); at += group) {
      double scale = inverseRootMeanSquare(in, at, group, eps);
      double dot = 0;
      for (int c = 0; c < group; c++) {
        double value = in.data()[in.offset() + at + c];
        double dValue = d.data()[d.offset() + at + c];
        dot += value * dValue * w.data()[w.offset() + c];
        dWeight[c] += dValue * value * scale;
      }
      double back = dot / group * scale * scale;
      for (int c = 0; c < group; c++) {
        double g = (double) d.data()[d.offset() + at + c] * w.data()[w.offset() + c];
        double value = in.data()[in.offset() + at + c];
        to.data()[to.offset() + at + c] = (float) (scale * (g - value * back));
      }
    }
    for (int c = 0; c < group; c++) {
      total.data()[total.offset() + c] += (float) dWeight[c];
    }
  }

  private static double inverseRootMeanSquare(HostMatrix x, int at, int group, float eps) {
    double squares = 0;
    for (int c = 0; c < group; c++) {
      double value = x.data()[x.offset() + at + c];
      squares += value * value;
    }
    return 1 / Math.sqrt(squares / group + eps);
  }

  @Override
  public void rope(Matrix x, Ints positions, RopeTable table) {
    turn(x, positions, table, 1);
  }

  @Override
  public void ropeBackward(Matrix dX, Ints positions, RopeTable table) {
    turn(dX, positions, table, -1);
  }

  private static void turn(Matrix x, Ints positions, RopeTable table, int direction) {
    Shapes.rope(x, positions, table);
    HostMatrix in = of(x);
    int[] position = HostInts.of(positions);
    int half = table.headDim() / 2;
    for (int i = 0; i < x.rows(); i++) {
      for (int head = 0; head < x.columns(); head += table.headDim()) {
        for (int j = 0; j < half; j++) {
          double angle = position[i] * table.inverseFrequency()[j];
          double cos = StrictMath.cos(angle) * table.scale();
          double sin = StrictMath.sin(angle) * table.scale() * direction;
          int first = in.at(i) + head + j;
          double a = in.data()[first];
          double b = in.data()[first + half];
          in.data()[first] = (float) (a * cos - b * sin);
          in.data()[first + half] = (float) (b * cos + a * sin);
        }
      }
    }
  }

  @Override
  public void linear(Matrix x, Weight w, Matrix out) {
    Shapes.linear(x, w, out);
    HostMatrix in = of(x);
    HostMatrix weight = ((PlainWeight) w).values();
    HostMatrix to = of(out);
    for (int i = 0; i < x.rows(); i++) {
      for (int o = 0; o < w.outputs(); o++) {
        to.data()[to.at(i) + o] = (float) dot(in, i, weight, o);
      }
    }
  }

  /** The product of a row of x and a row of y. */
  static double dot(HostMatrix x, int row, HostMatrix y, int other) {
    double sum = 0;
    for (int c = 0; c < x.columns(); c++) {
      sum += (double) x.data()[x.at(row) + c] * y.data()[y.at(other) + c];
    }
    return sum;
  }

  @Override
  public void linearBackwardInput(Matrix dOut, Weight w, Matrix dX, boolean accumulate) {
    Shapes.linear(dX, w, dOut);
    HostMatrix d = of(dOut);
    HostMatrix weight = ((PlainWeight) w).values();
    HostMatrix to = of(dX);
    for (int i = 0; i < dX.rows(); i++) {
      double[] row = new double[w.inputs()];
      for (int o = 0; o < w.outputs(); o++) {
        double dValue = d.data()[d.at(i) + o];
        for (int c = 0; c < row.length; c++) {
          row[c] += dValue * weight.data()[weight.at(o) + c];
        }
      }
      for (int c = 0; c < row.length; c++) {
        double before = accumulate ? to.data()[to.at(i) + c] : 0;
        to.data()[to.at(i) + c] = (float) (before + row[c]);
      }
    }
  }

  @Override
  public void linearBackwardWeight(Matrix dOut, Matrix x, Matrix accumulatedDW) {
    Shapes.linearBackwardWeight(dOut, x, accumulatedDW);
    HostMatrix d = of(dOut);
    HostMatrix in = of(x);
    HostMatrix to = of(accumulatedDW);
    for (int o = 0; o < dOut.columns(); o++) {
      double[] row = new double[x.columns()];
      for (int i = 0; i < x.rows(); i++) {
        double dValue = d.data()[d.at(i) + o];
        for (int c = 0; c < row.length; c++) {
          row[c] += dValue * in.data()[in.at(i) + c];
        }
      }
      for (int c = 0; c < row.length; c++) {
        to.data()[to.at(o) + c] = (float) (to.data()[to.at(o) + c] + row[c]);
      }
    }
  }

  @Override
  public void swiglu(Matrix gate, Matrix up, Matrix out) {
    Shapes.equal(gate, up, out);
    HostMatrix g = of(gate);
    HostMatrix u = of(up);
    HostMatrix to = of(out);
    for (int i = 0; i < g.size(); i++) {
      double x = g.data()[g.offset() + i];
      to.data()[to.offset() + i] = (float) (x * sigmoid(x) * u.data()[u.offset() + i]);
    }
  }

  /** {@code silu'(x) = s·(1 + x·(1 − s))} with {@code s = sigmoid(x)}. */
  @Override
  public void swigluBackward(Matrix gate, Matrix up, Matrix dOut, Matrix dGate, Matrix dUp) {
    Shapes.equal(gate, up, dOut, dGate, dUp);
    HostMatrix g = of(gate);
    HostMatrix u = of(up);
    HostMatrix d = of(dOut);
    HostMatrix toGate = of(dGate);
    HostMatrix toUp = of(dUp);
    for (int i = 0; i < g.size(); i++) {
      double x = g.data()[g.offset() + i];
      double s = sigmoid(x);
      double dValue = d.data()[d.offset() + i];
      double dSilu = dValue * u.data()[u.offset() + i];
      toGate.data()[toGate.offset() + i] = (float) (dSilu * s * (1 + x * (1 - s)));
      toUp.data()[toUp.offset() + i] = (float) (dValue * x * s);
    }
  }

  private static double sigmoid(double x) {
    return 1 / (1 + Math.exp(-x));
  }

  @Override
  public void causalAttention(
      Matrix q, Matrix k, Matrix v, int[] documentStarts, Heads heads, int window, Matrix out) {
    Shapes.causalAttention(q, k, v, documentStarts, heads, out);
    for (int n = 0; n + 1 < documentStarts.length; n++) {
      int from = documentStarts[n];
      int to = documentStarts[n + 1];
      Matrix documentK = k.rows(from, to);
      Matrix documentV = v.rows(from, to);
      cachedAttention(
          q.rows(from, to), documentK, documentV, to - from, heads, window, out.rows(from, to));
    }
  }

  @Override
  public void cachedAttention(
      Matrix q, Matrix k, Matrix v, int length, Heads heads, int window, Matrix out) {
    Shapes.cachedAttention(q, k, v, length, heads, out);
    ReferenceAttention.cached(of(q), of(k), of(v), length, heads, window, of(out));
  }

  @Override
  public void blockAttention(
      Matrix q,
      Matrix contextK,
      Matrix contextV,
      Matrix blockK,
      Matrix blockV,
      Blocks blocks,
      Heads heads,
      Matrix out,
      Matrix logSumExp) {
    Shapes.blockAttention(q, contextK, contextV, blockK, blockV, blocks, heads, out, logSumExp);
    new ReferenceAttention(of(q), of(contextK), of(contextV), of(blockK), of(blockV), blocks, heads)
        .forward(of(out), of(logSumExp));
  }

  @Override
  public void blockAttentionBackward(
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
    Shapes.blockAttention(q, contextK, contextV, blockK, blockV, blocks, heads, out, logSumExp);
    Shapes.blockAttentionBackward(gradients, q, contextK, blockK, out, dOut);
    new ReferenceAttention(of(q), of(contextK), of(contextV), of(blockK), of(blockV), blocks, heads)
        .backward(gradients, of(dOut));
  }

  @Override
  public HeadLoss.Result headLoss(
      Matrix x, Weight head, Matrix teacherStates, HeadLoss loss, Workspace scratch, Matrix dX) {
    Shapes.headLoss(x, head, teacherStates, loss, dX);
    HostMatrix teacher = teacherStates == null ? null : of(teacherStates);
    HostMatrix gradient = dX == null ? null : of(dX);
    return new ReferenceHeadLoss(of(x), ((PlainWeight) head).values(), teacher, loss, gradient)
        .run();
  }

  @Override
  public int[] argmaxRows(Matrix x) {
    HostMatrix in = of(x);
    int[] best = new int[x.rows()];
    for (int i = 0; i < x.rows(); i++) {
      for (int c = 1; c < x.columns(); c++) {
        if (in.data()[in.at(i) + c] > in.data()[in.at(i) + best[i]]) {
          best[i] = c;
        }
      }
    }
    return best;
  }

  @Override
  public boolean allFinite(Matrix x) {
    HostMatrix in = of(x);
    for (int i = 0; i < in.size(); i++) {
      if (!Float.isFinite(in.data()[in.offset() + i])) {
        return false;
      }
    }
    return true;
  }
}
