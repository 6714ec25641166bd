package org.draftmill.compute.cpu;

import static org.draftmill.compute.cpu.VectorKernels.F;
import static org.draftmill.compute.cpu.VectorKernels.L;
import static org.draftmill.compute.cpu.VectorKernels.load;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorMask;
import jdk.incubator.vector.VectorOperators;

/**
 * The softmax of attention, one query in each lane; methods as in {@link Kernels}. Vectors do not
 * cross the border of a method that may not be inlined: they would be boxed.
 */
final class VectorSoftmax {
  private VectorSoftmax() {}

  static void softmaxBlock(
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
    for (int j = 0; j < width; j += L) {
      if (hidden) {
        hide(scores, keys, width, j, from, to, first);
      }
      raise(scores, keys, width, j, largest, decay);
    }
    VectorExp.exp(decay, 0, 1f, 0f, decay, 0, width);
    VectorExp.exp(scores, 0, 1f, 0f, scores, 0, keys * width);
    for (int j = 0; j < width; j += L) {
      FloatVector sum = load(total, j).mul(load(decay, j));
      for (int i = 0, at = j; i < keys; i++, at += width) {
        sum = sum.add(load(scores, at));
      }
      sum.intoArray(total, j);
    }
  }

  static void probabilities(
      float[] scores,
      int keys,
      int width,
      boolean hidden,
      float[] from,
      float[] to,
      int first,
      float[] logSumExp) {
    for (int j = 0; j < width; j += L) {
      if (hidden) {
        hide(scores, keys, width, j, from, to, first);
      }
      FloatVector log = load(logSumExp, j);
      for (int i = 0, at = j; i < keys; i++, at += width) {
        load(scores, at).sub(log).intoArray(scores, at);
      }
    }
    VectorExp.exp(scores, 0, 1f, 0f, scores, 0, keys * width);
  }

  static void scoreGradients(float[] p, float[] dP, int keys, int width, float[] mean) {
    for (int j = 0; j < width; j += L) {
      FloatVector means = load(mean, j);
      for (int i = 0, at = j; i < keys; i++, at += width) {
        load(p, at).mul(load(dP, at).sub(means)).intoArray(dP, at);
      }
    }
  }

  private static void hide(
      float[] scores, int keys, int width, int j, float[] from, float[] to, int first) {
    FloatVector begin = load(from, j);
    FloatVector end = load(to, j);
    FloatVector hidden = FloatVector.broadcast(F, Kernels.HIDDEN);
    float allFrom = from[j];
    float allTo = to[j];
    for (int lane = j + 1; lane < j + L; lane++) {
      allFrom = Math.max(allFrom, from[lane]);
      allTo = Math.min(allTo, to[lane]);
    }
    for (int i = 0, at = j; i < keys; i++, at += width) {
      int key = first + i;
      if (key < allFrom || key >= allTo) {
        hidden.blend(load(scores, at), seen(begin, end, key)).intoArray(scores, at);
      }
    }
  }

  /** Raises the maxima; takes them from the scores, and from those before into decay. */
  private static void raise(
      float[] scores, int keys, int width, int j, float[] largest, float[] decay) {
    FloatVector before = load(largest, j);
    FloatVector max = before;
    for (int i = 0, at = j; i < keys; i++, at += width) {
      FloatVector score = load(scores, at);
      max = max.blend(score, score.compare(VectorOperators.GT, max));
    }
    max.intoArray(largest, j);
    before.sub(max).intoArray(decay, j);
    for (int i = 0, at = j; i < keys; i++, at += width) {
      load(scores, at).sub(max).intoArray(scores, at);
    }
  }

  private static VectorMask<Float> seen(FloatVector from, FloatVector to, int key) {
    return from.compare(VectorOperators.LE, key).and(to.compare(VectorOperators.GT, key));
  }
}
