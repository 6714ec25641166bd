package org.draftmill.compute.cpu;

import java.util.Arrays;
import org.draftmill.compute.host.HostMatrix;
import org.draftmill.compute.ops.HeadLoss;
import org.draftmill.compute.ops.Workspace;

/**
 * The vocabulary head and its loss, a chunk of whole blocks at a time: logits, then per block the
 * loss and, in the place of the logits, their gradient, then the gradient of the states.
 */
final class HeadLossRun {
  private final Kernels kernels;
  private final Products products;
  private final Parallel parallel;
  private final Spare[] spares;
  private final PackedWeight head;
  private final HostMatrix teacherStates;
  private final HeadLoss loss;
  private final HeadLoss.Settings settings;
  private final boolean soft;
  private final boolean backward;
  private final HeadLoss.Result result;
  private final float[] chance;
  private final float[] logSum;
  private HostMatrix logits;
  private HostMatrix teacherLogits;

  HeadLossRun(
      Kernels kernels,
      Products products,
      Parallel parallel,
      Spare[] spares,
      PackedWeight head,
      HostMatrix teacherStates,
      HeadLoss loss,
      boolean backward) {
    this.kernels = kernels;
    this.products = products;
    this.parallel = parallel;
    this.spares = spares;
    this.head = head;
    this.teacherStates = teacherStates;
    this.loss = loss;
    this.settings = loss.settings();
    this.soft = settings.useSoftLabels();
    this.backward = backward;
    int slots = loss.labels().length;
    this.result =
        new HeadLoss.Result(new float[slots], new float[slots], new float[slots], new byte[slots]);
    this.chance = new float[slots];
    this.logSum = new float[slots];
  }

  HeadLoss.Result run(HostMatrix x, Workspace scratch, HostMatrix dX) {
    int slots = x.rows();
    int most = Math.min(loss.chunkRows(), slots);
    HostMatrix chunk = HostMatrix.of(scratch.matrix(most, head.outputs()));
    HostMatrix teacherChunk = soft ? HostMatrix.of(scratch.matrix(most, head.outputs())) : null;
    HostMatrix states = soft ? HostMatrix.of(scratch.matrix(most, head.inputs())) : null;
    int perBlock = loss.slotsPerBlock();
    for (int first = 0; first < slots; first += most) {
      int begin = first;
      int rows = Math.min(most, slots - first);
      logits = chunk.rows(0, rows);
      products.multiply(x.rows(first, first + rows), head.forward(), logits, false);
      if (soft) {
        HostMatrix taught = states.rows(0, rows);
        gatherTeachers(first, taught);
        teacherLogits = teacherChunk.rows(0, rows);
        products.multiply(taught, head.forward(), teacherLogits, false);
      }
      parallel.run(
          rows / perBlock,
          50L * logits.size(),
          (block, worker) -> block(begin, block * perBlock, spares[worker]));
      if (backward) {
        products.multiply(logits, head.backward(), dX.rows(first, first + rows), false);
      }
    }
    return result;
  }

  private void gatherTeachers(int first, HostMatrix states) {
    for (int i = 0; i < states.rows(); i++) {
      int row = loss.teacherRows()[first + i];
      System.arraycopy(
          teacherStates.data(),
          teacherStates.at(row),
          states.data(),
          states.at(i),
          states.columns());
    }
  }

  /** The block whose first slot is row {@code row} of the chunk that begins at {@code begin}. */
  private void block(int begin, int row, Spare spare) {
    int slots = loss.slotsPerBlock();
    for (int k = 0; k < slots; k++) {
      measure(begin + row + k, row + k, spare);
    }
    for (int k = 0; k < slots; k++) {
      int slot = begin + row + k;
      double weight = StrictMath.exp(-k / (double) settings.gamma());
      if (settings.streak()) {
        weight *= expectedStreak(begin + row, k);
      }
      result.weight()[slot] = (float) weight;
      finish(slot, row + k, spare);
    }
  }

  /** Sum of the softmax, cross-entropy and hit of one slot. */
  private void measure(int slot, int row, Spare spare) {
    float[] z = logits.data();
    int at = logits.at(row);
    int n = logits.columns();
    int label = loss.labels()[slot];
    float largest = kernels.max(z, at, n);
    float sum = kernels.sumExp(z, at, n, 1f, largest, spare);
    logSum[slot] = (float) (largest + StrictMath.log(sum));
    result.loss()[slot] = logSum[slot] - z[at + label];
    chance[slot] = (float) StrictMath.exp(-result.loss()[slot]);
    result.hit()[slot] = (byte) (isFirstLargest(z, at, label, largest) ? 1 : 0);
  }

  private static boolean isFirstLargest(float[] z, int at, int label, float largest) {
    if (z[at + label] != largest) {
      return false;
    }
    for (int v = 0; v < label; v++) {
      if (z[at + v] == largest) {
        return false;
      }
    }
    return true;
  }

  /** {@code Σ_{j≥k} Π_{i≤j} q̃_i} with {@code q̃ = (1 − α)·q + α}, slots counted from 0. */
  private double expectedStreak(int first, int k) {
    double run = 1;
    double sum = 0;
    for (int j = 0; j < loss.slotsPerBlock(); j++) {
      run *= (1 - settings.streakAlpha()) * chance[first + j] + settings.streakAlpha();
      sum += j >= k ? run : 0;
    }
    return sum;
  }

  /** The other terms of the loss, and the logits turned into their gradient. */
  private void finish(int slot, int row, Spare spare) {
    float[] z = logits.data();
    int at = logits.at(row);
    int n = logits.columns();
    float weight = loss.supervised()[slot] * result.weight()[slot];
    boolean differentiate = backward && weight != 0;
    float kl = soft ? settings.klWeight() : 0f;
    if (soft) {
      float share = soften(slot, row, differentiate ? kl * weight : 0f, spare);
      result.loss()[slot] = (1 - kl) * result.loss()[slot] + kl * share;
    }
    float cap = 0f;
    if (settings.capLambda() != 0 && result.hit()[slot] != 0) {
      cap = settings.capLambda();
      result.confidence()[slot] = kernels.entropy(z, at, n, logSum[slot], spare);
    }
    if (differentiate) {
      float hard = (1 - kl) * weight;
      kernels.hardGradient(
          z, at, n, logSum[slot], hard, cap * weight, result.confidence()[slot], spare);
      z[at + loss.labels()[slot]] -= hard;
      if (soft) {
        kernels.add(z, at, teacherLogits.data(), teacherLogits.at(row), z, at, n);
      }
    } else if (backward) {
      Arrays.fill(z, at, at + n, 0f);
    }
  }

  /**
   * {@code T²·KL(softmax(t/T) ‖ softmax(z/T))}; unless {@code weight} is 0, the teacher's logits
   * become its gradient times weight.
   */
  private float soften(int slot, int row, float weight, Spare spare) {
    float[] z = logits.data();
    int at = logits.at(row);
    float[] t = teacherLogits.data();
    int teacher = teacherLogits.at(row);
    int n = logits.columns();
    float temperature = settings.klTemperature();
    float scale = 1f / temperature;
    float logZ = temperature == 1f ? logSum[slot] : logSum(z, at, n, scale, spare);
    float logT = logSum(t, teacher, n, scale, spare);
    float divergence = kernels.divergence(t, teacher, logT, z, at, logZ, n, scale, spare);
    if (weight != 0) {
      kernels.softGradient(t, teacher, logT, z, at, logZ, n, scale, weight * temperature, spare);
    } else {
      Arrays.fill(t, teacher, teacher + n, 0f);
    }
    return temperature * temperature * divergence;
  }

  /** {@code log Σ exp(x·scale)}. */
  private float logSum(float[] x, int at, int n, float scale, Spare spare) {
    float largest = kernels.max(x, at, n) * scale;
    return (float) (largest + StrictMath.log(kernels.sumExp(x, at, n, scale, largest, spare)));
  }
}
