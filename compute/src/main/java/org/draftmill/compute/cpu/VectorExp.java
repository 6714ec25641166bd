package org.draftmill.compute.cpu;

import static jdk.incubator.vector.VectorOperators.GE;
import static jdk.incubator.vector.VectorOperators.GT;
import static jdk.incubator.vector.VectorOperators.LSHL;
import static org.draftmill.compute.cpu.VectorKernels.F;
import static org.draftmill.compute.cpu.VectorKernels.L;

import jdk.incubator.vector.FloatVector;

/**
 * {@link Scalar#exp} over arrays, two vectors at a time. One straight method, too long to be
 * inlined, on purpose: as a helper that takes and returns a vector it is compiled into its callers
 * or not as the compiler's budget happens to allow, and where it is not every call boxes.
 */
final class VectorExp {
  private VectorExp() {}

  /** {@code out = exp(x·scale + shift)} over n values; out may be x. */
  static void exp(float[] x, int xo, float scale, float shift, float[] out, int oo, int n) {
    FloatVector scales = FloatVector.broadcast(F, scale);
    FloatVector shifts = FloatVector.broadcast(F, shift);
    FloatVector logs = FloatVector.broadcast(F, Scalar.LOG2_E);
    FloatVector rounds = FloatVector.broadcast(F, Scalar.ROUND);
    FloatVector high = FloatVector.broadcast(F, -Scalar.LN2_HIGH);
    FloatVector low = FloatVector.broadcast(F, -Scalar.LN2_LOW);
    FloatVector c2 = FloatVector.broadcast(F, Scalar.C2);
    FloatVector c3 = FloatVector.broadcast(F, Scalar.C3);
    FloatVector c4 = FloatVector.broadcast(F, Scalar.C4);
    FloatVector c5 = FloatVector.broadcast(F, Scalar.C5);
    FloatVector c6 = FloatVector.broadcast(F, Scalar.C6);
    FloatVector one = FloatVector.broadcast(F, 1f);
    FloatVector least = FloatVector.broadcast(F, Scalar.EXP_LOW);
    FloatVector most = FloatVector.broadcast(F, Scalar.EXP_HIGH);
    FloatVector infinity = FloatVector.broadcast(F, Float.POSITIVE_INFINITY);
    int i = 0;
    for (; i <= n - 2 * L; i += 2 * L) {
      FloatVector x0 = FloatVector.fromArray(F, x, xo + i).fma(scales, shifts);
      FloatVector t0 = x0.fma(logs, rounds);
      FloatVector n0 = t0.sub(rounds);
      FloatVector r0 = n0.fma(low, n0.fma(high, x0));
      FloatVector p0 = r0.fma(c6, c5);
      p0 = p0.fma(r0, c4);
      p0 = p0.fma(r0, c3);
      p0 = p0.fma(r0, c2);
      p0 = p0.fma(r0, one);
      p0 = p0.fma(r0, one);
      FloatVector e0 =
          p0.reinterpretAsInts()
              .add(t0.reinterpretAsInts().lanewise(LSHL, 23))
              .reinterpretAsFloats();
      e0 = x0.sub(x0).blend(e0, x0.compare(GE, least)).blend(infinity, x0.compare(GT, most));
      e0.intoArray(out, oo + i);
      FloatVector x1 = FloatVector.fromArray(F, x, xo + i + L).fma(scales, shifts);
      FloatVector t1 = x1.fma(logs, rounds);
      FloatVector n1 = t1.sub(rounds);
      FloatVector r1 = n1.fma(low, n1.fma(high, x1));
      FloatVector p1 = r1.fma(c6, c5);
      p1 = p1.fma(r1, c4);
      p1 = p1.fma(r1, c3);
      p1 = p1.fma(r1, c2);
      p1 = p1.fma(r1, one);
      p1 = p1.fma(r1, one);
      FloatVector e1 =
          p1.reinterpretAsInts()
              .add(t1.reinterpretAsInts().lanewise(LSHL, 23))
              .reinterpretAsFloats();
      e1 = x1.sub(x1).blend(e1, x1.compare(GE, least)).blend(infinity, x1.compare(GT, most));
      e1.intoArray(out, oo + i + L);
    }
    for (; i < n; i++) {
      out[oo + i] = Scalar.exp(Scalar.fma(x[xo + i], scale, shift));
    }
  }
}
