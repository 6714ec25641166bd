package org.draftmill.compute.cuda;

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

/**
 * The operations on a GPU: shapes are checked here, each family of kernels has a class of its own.
 */
final class CudaOps implements Ops {
  private final Launcher launcher;
  private final Scratch scratch;
  private final Elementwise elementwise;
  private final Rows rows;
  private final Norms norms;
  private final Rotary rotary;
  private final Reductions reductions;
  private final Products products;
  private final SequenceAttention sequences;
  private final BlockAttention blockAttention;

  CudaOps(Launcher launcher, Scratch scratch, Multiplier multiplier) {
    this.launcher = launcher;
    this.scratch = scratch;
    elementwise = new Elementwise(launcher);
    rows = new Rows(launcher, scratch);
    norms = new Norms(launcher, scratch);
    rotary = new Rotary(launcher, scratch);
    reductions = new Reductions(launcher, scratch);
    Rounding rounding = new Rounding(launcher, scratch);
    products = new Products(multiplier, rounding);
    sequences = new SequenceAttention(launcher, scratch, rounding);
    blockAttention = new BlockAttention(launcher, scratch, rounding);
  }

  @Override
  public void embed(Matrix table, Ints ids, Matrix out) {
    Shapes.gather(table, ids, out);
    rows.gather(table, ids, out);
  }

  @Override
  public void gatherRows(Matrix x, Ints row, Matrix out) {
    Shapes.gather(x, row, out);
    rows.gather(x, row, out);
  }

  @Override
  public void scatterAddRows(Matrix x, Ints row, Matrix accumulated) {
    Shapes.scatter(x, row, accumulated);
    rows.scatterAdd(x, row, accumulated);
  }

  @Override
  public void copyIntoColumns(Matrix x, Matrix out, int column) {
    Shapes.copyIntoColumns(x, out, column);
    rows.copyIntoColumns(x, out, column);
  }

  @Override
  public void add(Matrix x, Matrix y, Matrix out) {
    Shapes.equal(x, y, out);
    elementwise.add(x, y, out);
  }

  @Override
  public void addBias(Matrix x, Matrix bias) {
    Shapes.addBias(x, bias);
    rows.addBias(x, bias);
  }

  @Override
  public void rmsNorm(Matrix x, Matrix weight, float eps, Matrix out) {
    Shapes.rmsNorm(x, weight, out);
    norms.forward(x, weight, eps, out);
  }

  @Override
  public void rmsNormBackward(
      Matrix x, Matrix weight, float eps, Matrix dOut, Matrix dX, Matrix accumulatedDWeight) {
    Shapes.rmsNorm(x, weight, dX);
    Shapes.equal(x, dOut);
    Shapes.equal(weight, accumulatedDWeight);
    norms.backward(x, weight, eps, dOut, dX, accumulatedDWeight);
  }

  @Override
  public void rope(Matrix x, Ints positions, RopeTable table) {
    Shapes.rope(x, positions, table);
    rotary.turn(x, positions, table, 1f);
  }

  @Override
  public void ropeBackward(Matrix dX, Ints positions, RopeTable table) {
    Shapes.rope(dX, positions, table);
    rotary.turn(dX, positions, table, -1f);
  }

  @Override
  public void linear(Matrix x, Weight w, Matrix out) {
    Shapes.linear(x, w, out);
    products.linear(x, w, out);
  }

  @Override
  public void linearBackwardInput(Matrix dOut, Weight w, Matrix dX, boolean accumulate) {
    Shapes.linear(dX, w, dOut);
    products.linearBackwardInput(dOut, w, dX, accumulate);
  }

  @Override
  public void linearBackwardWeight(Matrix dOut, Matrix x, Matrix accumulatedDW) {
    Shapes.linearBackwardWeight(dOut, x, accumulatedDW);
    products.linearBackwardWeight(dOut, x, accumulatedDW);
  }

  @Override
  public void swiglu(Matrix gate, Matrix up, Matrix out) {
    Shapes.equal(gate, up, out);
    elementwise.swiglu(gate, up, out);
  }

  @Override
  public void swigluBackward(Matrix gate, Matrix up, Matrix dOut, Matrix dGate, Matrix dUp) {
    Shapes.equal(gate, up, dOut, dGate, dUp);
    elementwise.swigluBackward(gate, up, dOut, dGate, dUp);
  }

  @Override
  public void causalAttention(
      Matrix q, Matrix k, Matrix v, int[] documentStarts, Heads heads, int window, Matrix out) {
    Shapes.causalAttention(q, k, v, documentStarts, heads, out);
    sequences.causal(q, k, v, documentStarts, heads, window, out);
  }

  @Override
  public void cachedAttention(
      Matrix q, Matrix k, Matrix v, int length, Heads heads, int window, Matrix out) {
    Shapes.cachedAttention(q, k, v, length, heads, out);
    sequences.cached(q, k, v, length, heads, window, out);
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
    blockAttention.forward(q, contextK, contextV, blockK, blockV, blocks, heads, out, logSumExp);
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
    blockAttention.backward(
        gradients, q, contextK, contextV, blockK, blockV, blocks, heads, out, logSumExp, dOut);
  }

  @Override
  public HeadLoss.Result headLoss(
      Matrix x, Weight head, Matrix teacherStates, HeadLoss loss, Workspace memory, Matrix dX) {
    Shapes.headLoss(x, head, teacherStates, loss, dX);
    return new HeadLossRun(launcher, scratch, rows, this, head, loss)
        .run(x, teacherStates, memory, dX);
  }

  @Override
  public int[] argmaxRows(Matrix x) {
    return reductions.argmaxRows(x);
  }

  @Override
  public boolean allFinite(Matrix x) {
    return reductions.allFinite(x);
  }
}
