package org.draftmill.compute.cpu;

import static org.draftmill.compute.cpu.VectorKernels.F;
import static org.draftmill.compute.cpu.VectorKernels.L;
import static org.draftmill.compute.cpu.VectorKernels.load;
import static org.draftmill.compute.cpu.VectorKernels.wholeRounds;

import jdk.incubator.vector.FloatVector;

/**
 * Sums and gradients of the vocabulary loss along rows of logits; methods as in {@link Kernels}.
 */
final class VectorLoss {
  /** Does the ends of rows. */
  private static final Kernels PLAIN = new Kernels();

  private VectorLoss() {}

  static float sumExp(float[] x, int xo, int n, float scale, float shift, Spare spare) {
    float[] lanes = spare.clearedLanes();
    float[] exp = spare.row();
    for (int from = 0; from < n; from += Spare.ROW) {
      int some = Math.min(Spare.ROW, n - from);
      VectorExp.exp(x, xo + from, scale, -shift, exp, 0, some);
      int whole = wholeRounds(some);
      for (int lane = 0; lane < Scalar.LANES; lane += L) {
        FloatVector sum = load(lanes, lane);
        for (int i = lane; i < whole; i += Scalar.LANES) {
          sum = sum.add(load(exp, i));
        }
        sum.intoArray(lanes, lane);
      }
      for (int i = whole; i < some; i++) {
        lanes[i % Scalar.LANES] += exp[i];
      }
    }
    return Scalar.total(lanes);
  }

  static float entropy(float[] z, int zo, int n, float logSum, Spare spare) {
    float[] lanes = spare.clearedLanes();
    float[] exp = spare.row();
    for (int from = 0; from < n; from += Spare.ROW) {
      int some = Math.min(Spare.ROW, n - from);
      VectorExp.exp(z, zo + from, 1f, -logSum, exp, 0, some);
      int whole = wholeRounds(some);
      for (int lane = 0; lane < Scalar.LANES; lane += L) {
        FloatVector sum = load(lanes, lane);
        for (int i = lane; i < whole; i += Scalar.LANES) {
          sum = load(exp, i).fma(load(z, zo + from + i).sub(logSum), sum);
        }
        sum.intoArray(lanes, lane);
      }
      Kernels.entropy(z, zo + from, whole, some, logSum, lanes);
    }
    return -Scalar.total(lanes);
  }

  static float divergence(
      float[] t,
      int to,
      float logT,
      float[] z,
      int zo,
      float logZ,
      int n,
      float scale,
      Spare spare) {
    float[] lanes = spare.clearedLanes();
    float[] exp = spare.row();
    FloatVector scales = FloatVector.broadcast(F, scale);
    FloatVector shiftT = FloatVector.broadcast(F, -logT);
    FloatVector shiftZ = FloatVector.broadcast(F, -logZ);
    for (int from = 0; from < n; from += Spare.ROW) {
      int some = Math.min(Spare.ROW, n - from);
      VectorExp.exp(t, to + from, scale, -logT, exp, 0, some);
      int whole = wholeRounds(some);
      for (int lane = 0; lane < Scalar.LANES; lane += L) {
        FloatVector sum = load(lanes, lane);
        for (int i = lane; i < whole; i += Scalar.LANES) {
          FloatVector logP = load(t, to + from + i).fma(scales, shiftT);
          FloatVector logQ = load(z, zo + from + i).fma(scales, shiftZ);
          sum = load(exp, i).fma(logP.sub(logQ), sum);
        }
        sum.intoArray(lanes, lane);
      }
      Kernels.divergence(t, to + from, logT, z, zo + from, logZ, whole, some, scale, lanes);
    }
    return Scalar.total(lanes);
  }

  static void hardGradient(
      float[] z, int zo, int n, float logSum, float hard, float cap, float entropy, Spare spare) {
    float[] exp = spare.row();
    FloatVector hards = FloatVector.broadcast(F, hard);
    FloatVector caps = FloatVector.broadcast(F, -cap);
    for (int from = 0; from < n; from += Spare.ROW) {
      int some = Math.min(Spare.ROW, n - from);
      VectorExp.exp(z, zo + from, 1f, -logSum, exp, 0, some);
      int i = 0;
      for (; i <= some - L; i += L) {
        FloatVector log = load(z, zo + from + i).sub(logSum);
        load(exp, i).mul(caps.fma(log.add(entropy), hards)).intoArray(z, zo + from + i);
      }
      PLAIN.hardGradient(z, zo + from + i, some - i, logSum, hard, cap, entropy, spare);
    }
  }

  static void softGradient(
      float[] t,
      int to,
      float logT,
      float[] z,
      int zo,
      float logZ,
      int n,
      float scale,
      float soft,
      Spare spare) {
    float[] q = spare.row();
    VectorExp.exp(t, to, scale, -logT, t, to, n);
    for (int from = 0; from < n; from += Spare.ROW) {
      int some = Math.min(Spare.ROW, n - from);
      VectorExp.exp(z, zo + from, scale, -logZ, q, 0, some);
      int i = 0;
      for (; i <= some - L; i += L) {
        load(q, i).sub(load(t, to + from + i)).mul(soft).intoArray(t, to + from + i);
      }
      for (; i < some; i++) {
        t[to + from + i] = soft * (q[i] - t[to + from + i]);
      }
    }
  }
}
