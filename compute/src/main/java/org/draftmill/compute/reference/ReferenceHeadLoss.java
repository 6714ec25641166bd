package org.draftmill.compute.reference;

import org.draftmill.compute.host.HostMatrix;
import org.draftmill.compute.ops.HeadLoss;

/** The vocabulary head and the loss, block by block: only one block's logits exist at a time. */
final class ReferenceHeadLoss {
  private final HostMatrix x;
  private final HostMatrix head;
  private final HostMatrix teacher;
  private final HeadLoss loss;
  private final HeadLoss.Settings settings;
  private final HostMatrix dX;
  private final HeadLoss.Result result;

  ReferenceHeadLoss(
      HostMatrix x, HostMatrix head, HostMatrix teacher, HeadLoss loss, HostMatrix dX) {
    this.x = x;
    this.head = head;
    this.teacher = teacher;
    this.loss = loss;
    this.settings = loss.settings();
    this.dX = dX;
    int slots = x.rows();
    this.result =
        new HeadLoss.Result(new float[slots], new float[slots], new float[slots], new byte[slots]);
  }

  HeadLoss.Result run() {
    for (int first = 0; first < x.rows(); first += loss.slotsPerBlock()) {
      block(first);
    }
    return result;
  }

  private void block(int first) {
    int slots = loss.slotsPerBlock();
    double[][] logits = new double[slots][];
    double[] chance = new double[slots];
    for (int k = 0; k < slots; k++) {
      logits[k] = logits(x, first + k);
      chance[k] = Math.exp(logProbabilities(logits[k], 1)[loss.labels()[first + k]]);
    }
    for (int k = 0; k < slots; k++) {
      double weight = Math.exp(-k / (double) settings.gamma());
      if (settings.streak()) {
        weight *= expectedStreak(chance, k);
      }
      slot(first + k, logits[k], weight);
    }
  }

  /** {@code Σ_{j≥k} Π_{i≤j} q̃_i} with {@code q̃ = (1 − α)·q + α}, slots counted from 0. */
  private double expectedStreak(double[] chance, int k) {
    double run = 1;
    double sum = 0;
    for (int j = 0; j < chance.length; j++) {
      run *= (1 - settings.streakAlpha()) * chance[j] + settings.streakAlpha();
      sum += j >= k ? run : 0;
    }
    return sum;
  }

  private void slot(int slot, double[] z, double weight) {
    int label = loss.labels()[slot];
    double[] logQ = logProbabilities(z, 1);
    double[] dZ = new double[z.length];
    double kl = settings.useSoftLabels() ? settings.klWeight() : 0;
    double value = (1 - kl) * -logQ[label];
    for (int v = 0; v < z.length; v++) {
      dZ[v] = (1 - kl) * (Math.exp(logQ[v]) - (v == label ? 1 : 0));
    }
    if (settings.useSoftLabels()) {
      value += kl * divergence(slot, z, kl, dZ);
    }
    boolean hit = argmax(z) == label;
    double confidence = 0;
    if (settings.capLambda() != 0 && hit) {
      confidence = entropy(logQ, settings.capLambda(), dZ);
    }
    result.loss()[slot] = (float) value;
    result.confidence()[slot] = (float) confidence;
    result.weight()[slot] = (float) weight;
    result.hit()[slot] = (byte) (hit ? 1 : 0);
    if (dX != null) {
      backward(slot, dZ, loss.supervised()[slot] * weight);
    }
  }

  /** {@code T²·KL(softmax(t/T) ‖ softmax(z/T))}; adds {@code factor·T·(q − p)} to dZ. */
  private double divergence(int slot, double[] z, double factor, double[] dZ) {
    double temperature = settings.klTemperature();
    double[] logP = logProbabilities(logits(teacher, loss.teacherRows()[slot]), temperature);
    double[] logQ = logProbabilities(z, temperature);
    double sum = 0;
    for (int v = 0; v < z.length; v++) {
      double p = Math.exp(logP[v]);
      sum += p * (logP[v] - logQ[v]);
      dZ[v] += factor * temperature * (Math.exp(logQ[v]) - p);
    }
    return temperature * temperature * sum;
  }

  /** {@code −Σ q·log q}; adds {@code −factor·q·(log q + entropy)} to dZ. */
  private static double entropy(double[] logQ, double factor, double[] dZ) {
    double entropy = 0;
    for (double log : logQ) {
      entropy -= Math.exp(log) * log;
    }
    for (int v = 0; v < logQ.length; v++) {
      dZ[v] -= factor * Math.exp(logQ[v]) * (logQ[v] + entropy);
    }
    return entropy;
  }

  private void backward(int slot, double[] dZ, double weight) {
    for (int c = 0; c < x.columns(); c++) {
      double sum = 0;
      for (int v = 0; v < dZ.length; v++) {
        sum += dZ[v] * head.data()[head.at(v) + c];
      }
      dX.data()[dX.at(slot) + c] = weight == 0 ? 0 : (float) (weight * sum);
    }
  }

  /** Rounded to float, so that ties are those that every backend sees. */
  private double[] logits(HostMatrix states, int row) {
    double[] z = new double[head.rows()];
    for (int v = 0; v < z.length; v++) {
      z[v] = (float) ReferenceOps.dot(states, row, head, v);
    }
    return z;
  }

  private static double[] logProbabilities(double[] z, double temperature) {
    double[] scaled = new double[z.length];
    for (int v = 0; v < z.length; v++) {
      scaled[v] = z[v] / temperature;
    }
    double log = ReferenceAttention.softmax(scaled.clone());
    for (int v = 0; v < z.length; v++) {
      scaled[v] -= log;
    }
    return scaled;
  }

  private static int argmax(double[] z) {
    int best = 0;
    for (int v = 1; v < z.length; v++) {
      if (z[v] > z[best]) {
        best = v;
      }
    }
    return best;
  }
}
