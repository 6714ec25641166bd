package org.draftmill.compute.cpu;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorMask;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorShape;
import jdk.incubator.vector.VectorSpecies;

/**
 * The inner loops with the Vector API. Nothing is ever summed across the lanes of a vector in an
 * order that depends on how many there are, so every width gives the same bits. Loaded only where
 * the incubator module is present.
 */
final class VectorKernels extends Kernels {
  /** System property: bits of a vector, if not what the processor prefers. */
  static final String BITS = "draftmill.vector.bits";

  static final VectorSpecies<Float> F = species();

  /** Floats in a vector. */
  static final int L = F.length();

  private static final boolean WIDE = CpuFeatures.vectorRegisters() >= 32;

  private static VectorSpecies<Float> species() {
    int bits = Integer.getInteger(BITS, 0);
    return bits == 0
        ? FloatVector.SPECIES_PREFERRED
        : VectorSpecies.of(float.class, VectorShape.forBitSize(bits));
  }

  @Override
  int panel() {
    return WIDE ? 4 * L : 2 * L;
  }

  @Override
  int granule() {
    return 2 * L;
  }

  @Override
  void multiplyAdd(
      int rows,
      int width,
      int depth,
      float[] a,
      int ao,
      int ai,
      int ap,
      float[] b,
      int bo,
      int bp,
      float[] c,
      int co,
      int cs) {
    if (width == 4 * L) {
      wide(rows, depth, a, ao, ai, ap, b, bo, bp, c, co, cs);
    } else {
      narrow(rows, depth, a, ao, ai, ap, b, bo, bp, c, co, cs);
    }
  }

  private static void wide(
      int rows,
      int depth,
      float[] a,
      int ao,
      int ai,
      int ap,
      float[] b,
      int bo,
      int bp,
      float[] c,
      int co,
      int cs) {
    int i = 0;
    while (i < rows) {
      int at = ao + i * ai;
      int to = co + i * cs;
      int taken = tileRows(rows - i);
      switch (taken) {
        case 6 -> WideTiles.rows6(a, at, ai, ap, b, bo, bp, depth, c, to, cs);
        case 4 -> WideTiles.rows4(a, at, ai, ap, b, bo, bp, depth, c, to, cs);
        case 2 -> WideTiles.rows2(a, at, ai, ap, b, bo, bp, depth, c, to, cs);
        default -> WideTiles.rows1(a, at, ai, ap, b, bo, bp, depth, c, to, cs);
      }
      i += taken;
    }
  }

  private static void narrow(
      int rows,
      int depth,
      float[] a,
      int ao,
      int ai,
      int ap,
      float[] b,
      int bo,
      int bp,
      float[] c,
      int co,
      int cs) {
    int i = 0;
    while (i < rows) {
      int at = ao + i * ai;
      int to = co + i * cs;
      int taken = tileRows(rows - i);
      switch (taken) {
        case 6 -> NarrowTiles.rows6(a, at, ai, ap, b, bo, bp, depth, c, to, cs);
        case 4 -> NarrowTiles.rows4(a, at, ai, ap, b, bo, bp, depth, c, to, cs);
        case 2 -> NarrowTiles.rows2(a, at, ai, ap, b, bo, bp, depth, c, to, cs);
        default -> NarrowTiles.rows1(a, at, ai, ap, b, bo, bp, depth, c, to, cs);
      }
      i += taken;
    }
  }

  /** Eight rows are better two fours than six and two. */
  private static int tileRows(int left) {
    if (left >= 6 && left != 8) {
      return 6;
    }
    return left >= 4 ? 4 : Math.min(left, 2);
  }

  static FloatVector load(float[] x, int at) {
    return FloatVector.fromArray(F, x, at);
  }

  @Override
  void add(float[] x, int xo, float[] y, int yo, float[] out, int oo, int n) {
    int i = 0;
    for (; i <= n - L; i += L) {
      load(x, xo + i).add(load(y, yo + i)).intoArray(out, oo + i);
    }
    super.add(x, xo + i, y, yo + i, out, oo + i, n - i);
  }

  @Override
  void scaleColumns(float[] x, int depth, int width, float[] factors) {
    for (int j = 0; j < width; j += L) {
      FloatVector factor = load(factors, j);
      for (int p = 0, at = j; p < depth; p++, at += width) {
        load(x, at).mul(factor).intoArray(x, at);
      }
    }
  }

  /** Elements that fill whole rounds of the lanes of a sum; the rest is added one by one. */
  static int wholeRounds(int n) {
    return n - n % Scalar.LANES;
  }

  @Override
  float sumOfProducts(float[] x, int xo, float[] y, int yo, float[] z, int zo, int n, Spare spare) {
    float[] lanes = spare.lanes();
    int whole = wholeRounds(n);
    for (int lane = 0; lane < Scalar.LANES; lane += L) {
      FloatVector sum = FloatVector.zero(F);
      if (z == null) {
        for (int i = lane; i < whole; i += Scalar.LANES) {
          sum = load(x, xo + i).fma(load(y, yo + i), sum);
        }
      } else {
        for (int i = lane; i < whole; i += Scalar.LANES) {
          sum = load(x, xo + i).mul(load(z, zo + i)).fma(load(y, yo + i), sum);
        }
      }
      sum.intoArray(lanes, lane);
    }
    sumOfProducts(x, xo, y, yo, z, zo, whole, n, lanes);
    return Scalar.total(lanes);
  }

  @Override
  void scaledProduct(
      float[] x, int xo, float factor, float[] w, int wo, float[] out, int oo, int n) {
    int i = 0;
    for (; i <= n - L; i += L) {
      load(x, xo + i).mul(factor).mul(load(w, wo + i)).intoArray(out, oo + i);
    }
    super.scaledProduct(x, xo + i, factor, w, wo + i, out, oo + i, n - i);
  }

  @Override
  void normGradient(
      float[] x,
      int xo,
      float[] w,
      int wo,
      float[] dOut,
      int go,
      float factor,
      float back,
      float[] dX,
      int to,
      float[] dW,
      int dwo,
      int n) {
    int i = 0;
    FloatVector backs = FloatVector.broadcast(F, back);
    for (; i <= n - L; i += L) {
      FloatVector value = load(x, xo + i);
      FloatVector gradient = load(dOut, go + i);
      value.neg().fma(backs, gradient.mul(load(w, wo + i))).mul(factor).intoArray(dX, to + i);
      gradient.fma(value.mul(factor), load(dW, dwo + i)).intoArray(dW, dwo + i);
    }
    super.normGradient(
        x, xo + i, w, wo + i, dOut, go + i, factor, back, dX, to + i, dW, dwo + i, n - i);
  }

  @Override
  void turn(float[] x, int xo, int half, float[] cos, float[] sin, int angle, float direction) {
    int j = 0;
    for (; j <= half - L; j += L) {
      FloatVector a = load(x, xo + j);
      FloatVector b = load(x, xo + half + j);
      FloatVector c = load(cos, angle + j);
      FloatVector s = load(sin, angle + j).mul(direction);
      a.fma(c, b.mul(s).neg()).intoArray(x, xo + j);
      b.fma(c, a.mul(s)).intoArray(x, xo + half + j);
    }
    turn(x, xo, half, cos, sin, angle, direction, j);
  }

  @Override
  void swiglu(float[] gate, int go, float[] up, int uo, float[] out, int oo, int n, Spare spare) {
    float[] exp = spare.row();
    FloatVector one = FloatVector.broadcast(F, 1f);
    for (int from = 0; from < n; from += Spare.ROW) {
      int some = Math.min(Spare.ROW, n - from);
      VectorExp.exp(gate, go + from, -1f, 0f, exp, 0, some);
      int i = 0;
      for (; i <= some - L; i += L) {
        int at = from + i;
        FloatVector sigmoid = one.div(load(exp, i).add(one));
        load(gate, go + at).mul(sigmoid).mul(load(up, uo + at)).intoArray(out, oo + at);
      }
      int at = from + i;
      super.swiglu(gate, go + at, up, uo + at, out, oo + at, some - i, spare);
    }
  }

  @Override
  void swigluGradient(
      float[] gate,
      int go,
      float[] up,
      int uo,
      float[] dOut,
      int doo,
      float[] dGate,
      int dgo,
      float[] dUp,
      int duo,
      int n,
      Spare spare) {
    float[] exp = spare.row();
    FloatVector one = FloatVector.broadcast(F, 1f);
    for (int from = 0; from < n; from += Spare.ROW) {
      int some = Math.min(Spare.ROW, n - from);
      VectorExp.exp(gate, go + from, -1f, 0f, exp, 0, some);
      int i = 0;
      for (; i <= some - L; i += L) {
        int at = from + i;
        FloatVector x = load(gate, go + at);
        FloatVector s = one.div(load(exp, i).add(one));
        FloatVector d = load(dOut, doo + at);
        FloatVector slope = x.fma(one.sub(s), one);
        d.mul(load(up, uo + at)).mul(s).mul(slope).intoArray(dGate, dgo + at);
        d.mul(x).mul(s).intoArray(dUp, duo + at);
      }
      int at = from + i;
      super.swigluGradient(
          gate, go + at, up, uo + at, dOut, doo + at, dGate, dgo + at, dUp, duo + at, some - i,
          spare);
    }
  }

  @Override
  void columnProducts(float[] x, float[] y, int depth, int width, float[] sums) {
    for (int j = 0; j < width; j += L) {
      FloatVector sum = FloatVector.zero(F);
      for (int p = 0, at = j; p < depth; p++, at += width) {
        sum = load(x, at).fma(load(y, at), sum);
      }
      sum.intoArray(sums, j);
    }
  }

  @Override
  float max(float[] x, int xo, int n) {
    float[] lanes = new float[L];
    FloatVector max = FloatVector.broadcast(F, Float.NEGATIVE_INFINITY);
    int i = 0;
    for (; i <= n - L; i += L) {
      FloatVector value = load(x, xo + i);
      max = max.blend(value, value.compare(VectorOperators.GT, max));
    }
    max.intoArray(lanes, 0);
    return Math.max(super.max(lanes, 0, L), super.max(x, xo + i, n - i));
  }

  @Override
  int argmax(float[] x, int xo, int n) {
    float max = max(x, xo, n);
    int i = 0;
    for (; i <= n - L; i += L) {
      VectorMask<Float> found = load(x, xo + i).compare(VectorOperators.EQ, max);
      if (found.anyTrue()) {
        return i + found.firstTrue();
      }
    }
    for (; i < n; i++) {
      if (x[xo + i] == max) {
        return i;
      }
    }
    return 0;
  }

  @Override
  boolean allFinite(float[] x, int xo, int n) {
    FloatVector sum = FloatVector.zero(F);
    int i = 0;
    for (; i <= n - L; i += L) {
      sum = load(x, xo + i).fma(FloatVector.zero(F), sum);
    }
    return sum.compare(VectorOperators.EQ, 0f).allTrue() && super.allFinite(x, xo + i, n - i);
  }

  @Override
  void softmaxBlock(
      float[] scores,
      int keys,
      int width,
      boolean hidden,
      float[] from,
      float[] to,
      int first,
      float[] largest,
      float[] total,
      float[] decay) {
    VectorSoftmax.softmaxBlock(scores, keys, width, hidden, from, to, first, largest, total, decay);
  }

  @Override
  void probabilities(
      float[] scores,
      int keys,
      int width,
      boolean hidden,
      float[] from,
      float[] to,
      int first,
      float[] logSumExp) {
    VectorSoftmax.probabilities(scores, keys, width, hidden, from, to, first, logSumExp);
  }

  @Override
  void scoreGradients(float[] p, float[] dP, int keys, int width, float[] mean) {
    VectorSoftmax.scoreGradients(p, dP, keys, width, mean);
  }

  @Override
  float sumExp(float[] x, int xo, int n, float scale, float shift, Spare spare) {
    return VectorLoss.sumExp(x, xo, n, scale, shift, spare);
  }

  @Override
  float entropy(float[] z, int zo, int n, float logSum, Spare spare) {
    return VectorLoss.entropy(z, zo, n, logSum, spare);
  }

  @Override
  float divergence(
      float[] t,
      int to,
      float logT,
      float[] z,
      int zo,
      float logZ,
      int n,
      float scale,
      Spare spare) {
    return VectorLoss.divergence(t, to, logT, z, zo, logZ, n, scale, spare);
  }

  @Override
  void hardGradient(
      float[] z, int zo, int n, float logSum, float hard, float cap, float entropy, Spare spare) {
    VectorLoss.hardGradient(z, zo, n, logSum, hard, cap, entropy, spare);
  }

  @Override
  void softGradient(
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
    VectorLoss.softGradient(t, to, logT, z, zo, logZ, n, scale, soft, spare);
  }
}
