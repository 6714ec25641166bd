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
  private final Elementwise elementwise;

  CudaOps(Launcher launcher, Scratch scratch) {
    elementwise = new Elementwise(launcher);
  }

  @Override
  public void embed(Matrix table, Ints ids, Matrix out) {
    throw missing("embed");
  }

  @Override
  public void gatherRows(Matrix x, Ints rows, Matrix out) {
    throw missing("gatherRows");
  }

  @Override
  public void scatterAddRows(Matrix x, Ints rows, Matrix accumulated) {
    throw missing("scatterAddRows");
  }

  @Override
  public void copyIntoColumns(Matrix x, Matrix out, int column) {
    throw missing("copyIntoColumns");
  }

  @Override
  public void add(Matrix x, Matrix y, Matrix out) {
    Shapes.equal(x, y, out);
    elementwise.add(x, y, out);
  }

  @Override
  public void addBias(Matrix x, Matrix bias) {
    throw missing("addBias");
  }

  @Override
  public void rmsNorm(Matrix x, Matrix weight, float eps, Matrix out) {
    throw missing("rmsNorm");
  }

  @Override
  public void rmsNormBackward(
      Matrix x, Matrix weight, float eps, Matrix dOut, Matrix dX, Matrix accumulatedDWeight) {
    throw missing("rmsNormBackward");
  }

  @Override
  public void rope(Matrix x, Ints positions, RopeTable table) {
    throw missing("rope");
  }

  @Override
  public void ropeBackward(Matrix dX, Ints positions, RopeTable table) {
    throw missing("ropeBackward");
  }

  @Override
  public void linear(Matrix x, Weight w, Matrix out) {
    throw missing("linear");
  }

  @Override
  public void linearBackwardInput(Matrix dOut, Weight w, Matrix dX, boolean accumulate) {
    throw missing("linearBackwardInput");
  }

  @Override
  public void linearBackwardWeight(Matrix dOut, Matrix x, Matrix accumulatedDW) {
    throw missing("linearBackwardWeight");
  }

  @Override
  public void swiglu(Matrix gate, Matrix up, Matrix out) {
    throw missing("swiglu");
  }

  @Override
  public void swigluBackward(Matrix gate, Matrix up, Matrix dOut, Matrix dGate, Matrix dUp) {
    throw missing("swigluBackward");
  }

  @Override
  public void causalAttention(
      Matrix q, Matrix k, Matrix v, int[] documentStarts, Heads heads, int window, Matrix out) {
    throw missing("causalAttention");
  }

  @Override
  public void cachedAttention(
      Matrix q, Matrix k, Matrix v, int length, Heads heads, int window, Matrix out) {
    throw missing("cachedAttention");
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
    throw missing("blockAttention");
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
    throw missing("blockAttentionBackward");
  }

  @Override
  public HeadLoss.Result headLoss(
      Matrix x, Weight head, Matrix teacherStates, HeadLoss loss, Workspace scratch, Matrix dX) {
    throw missing("headLoss");
  }

  @Override
  public int[] argmaxRows(Matrix x) {
    throw missing("argmaxRows");
  }

  @Override
  public boolean allFinite(Matrix x) {
    throw missing("allFinite");
  }

  private static UnsupportedOperationException missing(String operation) {
    return new UnsupportedOperationException("the cuda backend has no " + operation + " yet");
  }
}
