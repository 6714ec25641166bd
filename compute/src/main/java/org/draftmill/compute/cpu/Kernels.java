package org.draftmill.compute.cpu;

/**
 * The inner loops over arrays, one thread each, in plain Java: the fallback where the Vector API is
 * absent, and the ends of rows of {@link VectorKernels}, which overrides every one with the same
 * arithmetic in the same order.
 */
class Kernels {
  /** What a query has seen at most before it has seen anything; far below any score. */
  static final float LEAST = -1e20f;

  /** The score of a key that a query does not see: its exponential is zero even beside LEAST. */
  static final float HIDDEN = -1e30f;

  /** Columns of a panel, the widest tile of {@link #multiplyAdd}. */
  int panel() {
    return 16;
  }

  /** Columns of the narrowest tile; divides {@link #panel()}. */
  int granule() {
    return 8;
  }

  /**
   * {@code c(i, j) += Σ_p a(i, p)·b(p, j)} for {@code rows} rows and {@code width} columns, each
   * sum a chain of fused multiply-adds in ascending p that begins with c.
   *
   * @param width {@link #panel()} or {@link #granule()}
   * @param a {@code a(i, p)} is {@code a[ao + i·ai + p·ap]}
   * @param b {@code b(p, j)} is {@code b[bo + p·bp + j]}
   * @param c {@code c(i, j)} is {@code c[co + i·cs + j]}
   */
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
    for (int i = 0; i < rows; i++) {
      for (int j = 0; j < width; j += 8) {
        PlainTile.eightColumns(depth, a, ao + i * ai, ap, b, bo + j, bp, c, co + i * cs + j);
      }
    }
  }

  /** {@code out = x + y} over n values. */
  void add(float[] x, int xo, float[] y, int yo, float[] out, int oo, int n) {
    for (int i = 0; i < n; i++) {
      out[oo + i] = x[xo + i] + y[yo + i];
    }
  }

  /** {@code x(p, j) *= factors[j]}; x {@code [depth, width]}, width a multiple of the granule. */
  void scaleColumns(float[] x, int depth, int width, float[] factors) {
    for (int p = 0; p < depth; p++) {
      for (int j = 0; j < width; j++) {
        x[p * width + j] *= factors[j];
      }
    }
  }

  /** {@code Σ x·y·z}; or {@code Σ x·y} without z. */
  float sumOfProducts(float[] x, int xo, float[] y, int yo, float[] z, int zo, int n, Spare spare) {
    float[] lanes = spare.clearedLanes();
    sumOfProducts(x, xo, y, yo, z, zo, 0, n, lanes);
    return Scalar.total(lanes);
  }

  static void sumOfProducts(
      float[] x, int xo, float[] y, int yo, float[] z, int zo, int from, int n, float[] lanes) {
    for (int i = from; i < n; i++) {
      int lane = i % Scalar.LANES;
      float first = z == null ? x[xo + i] : x[xo + i] * z[zo + i];
      lanes[lane] = Scalar.fma(first, y[yo + i], lanes[lane]);
    }
  }

  /** {@code out = x·factor·w} over n values. */
  void scaledProduct(
      float[] x, int xo, float factor, float[] w, int wo, float[] out, int oo, int n) {
    for (int i = 0; i < n; i++) {
      out[oo + i] = x[xo + i] * factor * w[wo + i];
    }
  }

  /**
   * The gradient of a norm over n values: {@code dX = factor·(dOut·w − x·back)}, {@code dW +=
   * dOut·(x·factor)}.
   */
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
    for (int i = 0; i < n; i++) {
      float value = x[xo + i];
      float gradient = dOut[go + i];
      dX[to + i] = factor * Scalar.fma(-value, back, gradient * w[wo + i]);
      dW[dwo + i] = Scalar.fma(gradient, value * factor, dW[dwo + i]);
    }
  }

  /**
   * Turns one head: pairs {@code (x[j], x[j + half])} by the angle whose cosine and sine are at
   * {@code angle + j}, sines times {@code direction}.
   */
  void turn(float[] x, int xo, int half, float[] cos, float[] sin, int angle, float direction) {
    turn(x, xo, half, cos, sin, angle, direction, 0);
  }

  static void turn(
      float[] x, int xo, int half, float[] cos, float[] sin, int angle, float direction, int from) {
    for (int j = from; j < half; j++) {
      float a = x[xo + j];
      float b = x[xo + half + j];
      float c = cos[angle + j];
      float s = sin[angle + j] * direction;
      x[xo + j] = Scalar.fma(a, c, -(b * s));
      x[xo + half + j] = Scalar.fma(b, c, a * s);
    }
  }

  /** {@code out = silu(gate)·up} over n values. */
  void swiglu(float[] gate, int go, float[] up, int uo, float[] out, int oo, int n, Spare spare) {
    for (int i = 0; i < n; i++) {
      float x = gate[go + i];
      out[oo + i] = x * Scalar.sigmoid(x) * up[uo + i];
    }
  }

  /** Gradient of {@link #swiglu} over n values. */
  void swigluGradient(
      float[] gate,
      int go,
      float[] up,
      int uo,
      float[] dOut,
      int at,
      float[] dGate,
      int dgo,
      float[] dUp,
      int duo,
      int n,
      Spare spare) {
    for (int i = 0; i < n; i++) {
      float x = gate[go + i];
      float s = Scalar.sigmoid(x);
      float d = dOut[at + i];
      dGate[dgo + i] = d * up[uo + i] * s * Scalar.fma(x, 1f - s, 1f);
      dUp[duo + i] = d * x * s;
    }
  }

  /**
   * One block of keys of a running softmax, a query in each column: raises {@code largest}, puts
   * the factor for what was summed before into {@code decay}, turns scores into exponentials and
   * adds them to {@code total}.
   *
   * @param scores {@code [keys, width]}
   * @param width a multiple of {@link #granule()}
   * @param from the query in column j sees key i only if {@code from[j] ≤ first + i < to[j]}
   * @param hidden whether any query does not see every key
   */
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
    for (int j = 0; j < width; j++) {
      float max = largest[j];
      for (int i = 0; i < keys; i++) {
        int at = i * width + j;
        if (hidden && !seen(from[j], to[j], first + i)) {
          scores[at] = HIDDEN;
        }
        max = scores[at] > max ? scores[at] : max;
      }
      decay[j] = Scalar.exp(largest[j] - max);
      largest[j] = max;
      float sum = total[j] * decay[j];
      for (int i = 0; i < keys; i++) {
        int at = i * width + j;
        scores[at] = Scalar.exp(scores[at] - max);
        sum += scores[at];
      }
      total[j] = sum;
    }
  }

  /** Scores to probabilities when the log of the sum is known; arguments as in softmaxBlock. */
  void probabilities(
      float[] scores,
      int keys,
      int width,
      boolean hidden,
      float[] from,
      float[] to,
      int first,
      float[] logSumExp) {
    for (int i = 0; i < keys; i++) {
      for (int j = 0; j < width; j++) {
        int at = i * width + j;
        boolean seen = !hidden || seen(from[j], to[j], first + i);
        scores[at] = seen ? Scalar.exp(scores[at] - logSumExp[j]) : 0f;
      }
    }
  }

  private static boolean seen(float from, float to, int key) {
    return from <= key && key < to;
  }

  /** {@code dP = p·(dP − mean)} with one mean a column; {@code [keys, width]}. */
  void scoreGradients(float[] p, float[] dP, int keys, int width, float[] mean) {
    for (int i = 0; i < keys; i++) {
      for (int j = 0; j < width; j++) {
        int at = i * width + j;
        dP[at] = p[at] * (dP[at] - mean[j]);
      }
    }
  }

  /** {@code sums[j] = Σ_p x(p, j)·y(p, j)} in ascending p; {@code [depth, width]}. */
  void columnProducts(float[] x, float[] y, int depth, int width, float[] sums) {
    for (int j = 0; j < width; j++) {
      float sum = 0f;
      for (int p = 0; p < depth; p++) {
        sum = Scalar.fma(x[p * width + j], y[p * width + j], sum);
      }
      sums[j] = sum;
    }
  }

  /** The largest of n values. */
  float max(float[] x, int xo, int n) {
    float max = Float.NEGATIVE_INFINITY;
    for (int i = 0; i < n; i++) {
      max = x[xo + i] > max ? x[xo + i] : max;
    }
    return max;
  }

  /** {@code Σ exp(x·scale − shift)} over n values. */
  float sumExp(float[] x, int xo, int n, float scale, float shift, Spare spare) {
    float[] lanes = spare.clearedLanes();
    sumExp(x, xo, 0, n, scale, shift, lanes);
    return Scalar.total(lanes);
  }

  static void sumExp(float[] x, int xo, int from, int n, float scale, float shift, float[] lanes) {
    for (int i = from; i < n; i++) {
      lanes[i % Scalar.LANES] += Scalar.exp(Scalar.fma(x[xo + i], scale, -shift));
    }
  }

  /** {@code −Σ q·log q} with {@code log q = z − logSum}. */
  float entropy(float[] z, int zo, int n, float logSum, Spare spare) {
    float[] lanes = spare.clearedLanes();
    entropy(z, zo, 0, n, logSum, lanes);
    return -Scalar.total(lanes);
  }

  static void entropy(float[] z, int zo, int from, int n, float logSum, float[] lanes) {
    for (int i = from; i < n; i++) {
      float log = z[zo + i] - logSum;
      int lane = i % Scalar.LANES;
      lanes[lane] = Scalar.fma(Scalar.exp(log), log, lanes[lane]);
    }
  }

  /** {@code Σ p·(log p − log q)} with {@code log p = t·scale − logT}, {@code log q} likewise. */
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
    float[] lanes = spare.clearedLanes();
    divergence(t, to, logT, z, zo, logZ, 0, n, scale, lanes);
    return Scalar.total(lanes);
  }

  static void divergence(
      float[] t,
      int to,
      float logT,
      float[] z,
      int zo,
      float logZ,
      int from,
      int n,
      float scale,
      float[] lanes) {
    for (int i = from; i < n; i++) {
      float logP = Scalar.fma(t[to + i], scale, -logT);
      float logQ = Scalar.fma(z[zo + i], scale, -logZ);
      int lane = i % Scalar.LANES;
      lanes[lane] = Scalar.fma(Scalar.exp(logP), logP - logQ, lanes[lane]);
    }
  }

  /**
   * Turns logits into their gradient in place, but for the label: {@code hard·q − cap·q·(log q +
   * entropy)} with {@code log q = z − logSum}.
   */
  void hardGradient(
      float[] z, int zo, int n, float logSum, float hard, float cap, float entropy, Spare spare) {
    for (int i = 0; i < n; i++) {
      float log = z[zo + i] - logSum;
      z[zo + i] = Scalar.exp(log) * Scalar.fma(-cap, log + entropy, hard);
    }
  }

  /**
   * Turns the teacher's logits into the soft part of the gradient in place: {@code soft·(q − p)},
   * names as in {@link #divergence}.
   */
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
    for (int i = 0; i < n; i++) {
      float p = Scalar.exp(Scalar.fma(t[to + i], scale, -logT));
      float q = Scalar.exp(Scalar.fma(z[zo + i], scale, -logZ));
      t[to + i] = soft * (q - p);
    }
  }

  /** Index of the largest of n values, the lowest on ties. */
  int argmax(float[] x, int xo, int n) {
    int best = 0;
    for (int i = 1; i < n; i++) {
      if (x[xo + i] > x[xo + best]) {
        best = i;
      }
    }
    return best;
  }

  /** Whether n values are all finite: a value times zero is not zero only when it is not. */
  boolean allFinite(float[] x, int xo, int n) {
    float sum = 0f;
    for (int i = 0; i < n; i++) {
      sum += x[xo + i] * 0f;
    }
    return sum == 0f;
  }
}
