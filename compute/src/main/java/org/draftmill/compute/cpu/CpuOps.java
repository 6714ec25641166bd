package org.draftmill.compute.cpu;

import static org.draftmill.compute.host.HostMatrix.of;

import java.util.Arrays;
import java.util.Map;
import java.util.WeakHashMap;
import org.draftmill.compute.cpu.SequenceAttention.Sequence;
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

/** Checks shapes, cuts the work into tasks and leaves the arithmetic to {@link Kernels}. */
final class CpuOps implements Ops {
  /** Multiplications that a silu is worth. */
  private static final int SILU = 20;

  private final Kernels kernels;
  private final Parallel parallel;
  private final Products products;
  private final Spare[] spares;
  private final RowNorm norm;
  private final AttentionTasks attention;
  private final Map<RopeTable, RopeAngles> angles = new WeakHashMap<>();

  CpuOps(Kernels kernels, Parallel parallel) {
    this.kernels = kernels;
    this.parallel = parallel;
    this.products = new Products(kernels, parallel);
    this.spares = new Spare[parallel.threads()];
    Arrays.setAll(spares, i -> new Spare());
    this.norm = new RowNorm(kernels, parallel, spares);
    this.attention = new AttentionTasks(kernels, parallel);
  }

  /** Of scratch memory. */
  long bytesHeld() {
    long rotary = angles.values().stream().mapToLong(RopeAngles::bytes).sum();
    return products.bytesHeld() + norm.bytesHeld() + rotary;
  }

  @Override
  public void embed(Matrix table, Ints ids, Matrix out) {
    gatherRows(table, ids, out);
  }

  @Override
  public void gatherRows(Matrix x, Ints rows, Matrix out) {
    Shapes.gather(x, rows, out);
    HostMatrix in = of(x);
    HostMatrix to = of(out);
    int[] row = HostInts.of(rows);
    parallel.overRows(
        row.length,
        to.size(),
        (from, end, worker) -> {
          for (int i = from; i < end; i++) {
            System.arraycopy(in.data(), in.at(row[i]), to.data(), to.at(i), in.columns());
          }
        });
  }

  @Override
  public void scatterAddRows(Matrix x, Ints rows, Matrix accumulated) {
    Shapes.scatter(x, rows, accumulated);
    HostMatrix in = of(x);
    HostMatrix to = of(accumulated);
    int[] row = HostInts.of(rows);
    for (int i = 0; i < row.length; i++) {
      kernels.add(
          to.data(), to.at(row[i]), in.data(), in.at(i), to.data(), to.at(row[i]), in.columns());
    }
  }

  @Override
  public void copyIntoColumns(Matrix x, Matrix out, int column) {
    Shapes.copyIntoColumns(x, out, column);
    HostMatrix in = of(x);
    HostMatrix to = of(out);
    parallel.overRows(
        in.rows(),
        in.size(),
        (from, end, worker) -> {
          for (int i = from; i < end; i++) {
            System.arraycopy(in.data(), in.at(i), to.data(), to.at(i) + column, in.columns());
          }
        });
  }

  @Override
  public void add(Matrix x, Matrix y, Matrix out) {
    Shapes.equal(x, y, out);
    HostMatrix a = of(x);
    HostMatrix b = of(y);
    HostMatrix to = of(out);
    parallel.overRows(
        a.rows(),
        a.size(),
        (from, end, worker) ->
            kernels.add(
                a.data(),
                a.at(from),
                b.data(),
                b.at(from),
                to.data(),
                to.at(from),
                (end - from) * a.columns()));
  }

  @Override
  public void addBias(Matrix x, Matrix bias) {
    Shapes.addBias(x, bias);
    HostMatrix to = of(x);
    HostMatrix b = of(bias);
    parallel.overRows(
        to.rows(),
        to.size(),
        (from, end, worker) -> {
          for (int i = from; i < end; i++) {
            kernels.add(
                to.data(), to.at(i), b.data(), b.offset(), to.data(), to.at(i), to.columns());
          }
        });
  }

  @Override
  public void rmsNorm(Matrix x, Matrix weight, float eps, Matrix out) {
    Shapes.rmsNorm(x, weight, out);
    norm.forward(of(x), of(weight), eps, of(out));
  }

  @Override
  public void rmsNormBackward(
      Matrix x, Matrix weight, float eps, Matrix dOut, Matrix dX, Matrix accumulatedDWeight) {
    Shapes.rmsNorm(x, weight, dX);
    Shapes.equal(x, dOut);
    Shapes.equal(weight, accumulatedDWeight);
    norm.backward(of(x), of(weight), eps, of(dOut), of(dX), of(accumulatedDWeight));
  }

  @Override
  public void rope(Matrix x, Ints positions, RopeTable table) {
    turn(x, positions, table, 1f);
  }

  @Override
  public void ropeBackward(Matrix dX, Ints positions, RopeTable table) {
    turn(dX, positions, table, -1f);
  }

  private void turn(Matrix x, Ints positions, RopeTable table, float direction) {
    Shapes.rope(x, positions, table);
    HostMatrix in = of(x);
    int[] position = HostInts.of(positions);
    int largest = 0;
    for (int p : position) {
      largest = Math.max(largest, p);
    }
    RopeAngles angle = angles.computeIfAbsent(table, RopeAngles::new);
    angle.reach(largest + 1);
    int half = table.headDim() / 2;
    parallel.overRows(
        in.rows(),
        2L * in.size(),
        (from, end, worker) -> {
          for (int i = from; i < end; i++) {
            for (int head = 0; head < in.columns(); head += 2 * half) {
              kernels.turn(
                  in.data(),
                  in.at(i) + head,
                  half,
                  angle.cos(),
                  angle.sin(),
                  position[i] * half,
                  direction);
            }
          }
        });
  }

  @Override
  public void linear(Matrix x, Weight w, Matrix out) {
    Shapes.linear(x, w, out);
    products.multiply(of(x), ((PackedWeight) w).forward(), of(out), false);
  }

  @Override
  public void linearBackwardInput(Matrix dOut, Weight w, Matrix dX, boolean accumulate) {
    Shapes.linear(dX, w, dOut);
    products.multiply(of(dOut), ((PackedWeight) w).backward(), of(dX), accumulate);
  }

  @Override
  public void linearBackwardWeight(Matrix dOut, Matrix x, Matrix accumulatedDW) {
    Shapes.linearBackwardWeight(dOut, x, accumulatedDW);
    products.multiplyTransposed(of(dOut), of(x), of(accumulatedDW));
  }

  @Override
  public void swiglu(Matrix gate, Matrix up, Matrix out) {
    Shapes.equal(gate, up, out);
    HostMatrix g = of(gate);
    HostMatrix u = of(up);
    HostMatrix to = of(out);
    parallel.overRows(
        g.rows(),
        (long) SILU * g.size(),
        (from, end, worker) ->
            kernels.swiglu(
                g.data(),
                g.at(from),
                u.data(),
                u.at(from),
                to.data(),
                to.at(from),
                (end - from) * g.columns(),
                spares[worker]));
  }

  @Override
  public void swigluBackward(Matrix gate, Matrix up, Matrix dOut, Matrix dGate, Matrix dUp) {
    Shapes.equal(gate, up, dOut, dGate, dUp);
    HostMatrix g = of(gate);
    HostMatrix u = of(up);
    HostMatrix d = of(dOut);
    HostMatrix toGate = of(dGate);
    HostMatrix toUp = of(dUp);
    parallel.overRows(
        g.rows(),
        (long) SILU * g.size(),
        (from, end, worker) ->
            kernels.swigluGradient(
                g.data(),
                g.at(from),
                u.data(),
                u.at(from),
                d.data(),
                d.at(from),
                toGate.data(),
                toGate.at(from),
                toUp.data(),
                toUp.at(from),
                (end - from) * g.columns(),
                spares[worker]));
  }

  @Override
  public void causalAttention(
      Matrix q, Matrix k, Matrix v, int[] documentStarts, Heads heads, int window, Matrix out) {
    Shapes.causalAttention(q, k, v, documentStarts, heads, out);
    Sequence[] sequences = new Sequence[documentStarts.length - 1];
    for (int n = 0; n < sequences.length; n++) {
      int start = documentStarts[n];
      sequences[n] = new Sequence(start, documentStarts[n + 1] - start, start, 0);
    }
    attention.causal(
        new SequenceAttention(of(q), of(k), of(v), heads, window, of(out)), heads, sequences);
  }

  @Override
  public void cachedAttention(
      Matrix q, Matrix k, Matrix v, int length, Heads heads, int window, Matrix out) {
    Shapes.cachedAttention(q, k, v, length, heads, out);
    attention.causal(
        new SequenceAttention(of(q), of(k), of(v), heads, window, of(out)),
        heads,
        new Sequence(0, q.rows(), 0, length - q.rows()));
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
    attention.blocks(
        new BlockAttention(
            of(q),
            of(contextK),
            of(contextV),
            of(blockK),
            of(blockV),
            blocks,
            heads,
            of(out),
            of(logSumExp)),
        heads);
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
    attention.blocksBackward(
        new BlockAttention(
            of(q),
            of(contextK),
            of(contextV),
            of(blockK),
            of(blockV),
            blocks,
            heads,
            of(out),
            of(logSumExp)),
        heads,
        gradients,
        of(dOut));
  }

  @Override
  public HeadLoss.Result headLoss(
      Matrix x, Weight head, Matrix teacherStates, HeadLoss loss, Workspace scratch, Matrix dX) {
    Shapes.headLoss(x, head, teacherStates, loss, dX);
    HostMatrix teacher = teacherStates == null ? null : of(teacherStates);
    HostMatrix gradient = dX == null ? null : of(dX);
    return new HeadLossRun(
            kernels, products, parallel, spares, (PackedWeight) head, teacher, loss, dX != null)
        .run(of(x), scratch, gradient);
  }

  @Override
  public int[] argmaxRows(Matrix x) {
    HostMatrix in = of(x);
    int[] best = new int[in.rows()];
    parallel.overRows(
        in.rows(),
        in.size(),
        (from, end, worker) -> {
          for (int i = from; i < end; i++) {
            best[i] = kernels.argmax(in.data(), in.at(i), in.columns());
          }
        });
    return best;
  }

  @Override
  public boolean allFinite(Matrix x) {
    HostMatrix in = of(x);
    return kernels.allFinite(in.data(), in.offset(), in.size());
  }
}
