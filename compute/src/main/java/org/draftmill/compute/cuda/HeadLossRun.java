package org.draftmill.compute.cuda;

import org.draftmill.compute.ops.HeadLoss;
import org.draftmill.compute.ops.Matrix;
import org.draftmill.compute.ops.Ops;
import org.draftmill.compute.ops.Weight;
import org.draftmill.compute.ops.Workspace;

/**
 * The vocabulary head and its loss, a chunk of whole blocks at a time: logits, their loss, their
 * gradient in their place, the gradient of the states ({@code loss.cu}). Nothing comes to the host
 * before all chunks are on their way.
 */
final class HeadLossRun {
  private static final String FAMILY = "loss";
  private static final int THREADS = 512;

  /** Logits of one row whose gradient a block computes. */
  private static final int GRADIENT_COLUMNS = 8192;

  /** Vectors of the result: loss, confidence, weight, hit, and the log of the denominator. */
  private static final int VALUES = 5;

  private final Launcher launcher;
  private final Scratch scratch;
  private final Rows rows;
  private final Ops products;
  private final HeadLoss loss;
  private final HeadLoss.Settings settings;
  private final Weight head;
  private final int slots;
  private final int vocabulary;

  /** 1 over the temperature of the soft labels. */
  private final float scale;

  private final float kl;
  private CudaInts labels; // [slots]
  private CudaInts supervised; // [slots]
  private CudaInts position; // [slotsPerBlock] doubles: position weights
  private CudaMatrix results; // [VALUES, slots]
  private CudaMatrix logSums; // [2, rows of a chunk]

  /**
   * @param products computes {@code linear} and {@code linearBackwardInput}
   */
  HeadLossRun(
      Launcher launcher, Scratch scratch, Rows rows, Ops products, Weight head, HeadLoss loss) {
    this.launcher = launcher;
    this.scratch = scratch;
    this.rows = rows;
    this.products = products;
    this.head = head;
    this.loss = loss;
    this.settings = loss.settings();
    this.slots = loss.labels().length;
    this.vocabulary = head.outputs();
    this.scale = 1f / settings.klTemperature();
    this.kl = settings.useSoftLabels() ? settings.klWeight() : 0f;
  }

  /** See {@link Ops#headLoss}. */
  HeadLoss.Result run(Matrix x, Matrix teacherStates, Workspace memory, Matrix dX) {
    if (slots == 0) {
      return result(new float[0]);
    }
    boolean soft = settings.useSoftLabels();
    int most = Math.min(loss.chunkRows(), slots);
    labels = scratch.ints("labels", loss.labels());
    supervised = scratch.ints("supervised", widened(loss.supervised()));
    position = scratch.doubles("position weights", positionWeights());
    results = scratch.matrix("loss results", VALUES, slots);
    logSums = soft ? scratch.matrix("loss sums", 2, most) : null;
    final CudaInts teacherRows = soft ? scratch.ints("teacher rows", loss.teacherRows()) : null;
    final Matrix chunk = memory.matrix(most, vocabulary);
    final Matrix teacherChunk = soft ? memory.matrix(most, vocabulary) : null;
    final Matrix states = soft ? memory.matrix(most, head.inputs()) : null;
    for (int first = 0; first < slots; first += most) {
      int count = Math.min(most, slots - first);
      Matrix logits = chunk.rows(0, count);
      products.linear(x.rows(first, first + count), head, logits);
      Matrix teacherLogits = null;
      if (soft) {
        Matrix taught = states.rows(0, count);
        rows.gather(teacherStates, teacherRows, first, taught);
        teacherLogits = teacherChunk.rows(0, count);
        products.linear(taught, head, teacherLogits);
      }
      measure(logits, teacherLogits, first, count);
      if (dX != null) {
        differentiate(logits, teacherLogits, first, count);
        products.linearBackwardInput(logits, head, dX.rows(first, first + count), false);
      }
    }
    return result(results.toArray());
  }

  private static int[] widened(byte[] flags) {
    int[] wide = new int[flags.length];
    for (int i = 0; i < flags.length; i++) {
      wide[i] = flags[i];
    }
    return wide;
  }

  private double[] positionWeights() {
    double[] weights = new double[loss.slotsPerBlock()];
    for (int k = 0; k < weights.length; k++) {
      weights[k] = StrictMath.exp(-k / (double) settings.gamma());
    }
    return weights;
  }

  /** Loss, weight, hit and confidence of the slots {@code first … first + count − 1}. */
  private void measure(Matrix logits, Matrix teacherLogits, int first, int count) {
    CudaMatrix z = CudaMatrix.of(logits);
    launcher.launch(
        FAMILY,
        "loss_cross_entropy",
        Grid.of(count, THREADS),
        z,
        labels,
        results,
        slots,
        first,
        vocabulary);
    int blocks = count / loss.slotsPerBlock();
    launcher.launch(
        FAMILY,
        "loss_weights",
        Grid.over(blocks),
        results,
        position,
        settings.streak() ? settings.streakAlpha() : 0f,
        settings.streak() ? 1 : 0,
        slots,
        first,
        loss.slotsPerBlock(),
        blocks);
    launcher.launch(
        FAMILY,
        "loss_soft_terms",
        Grid.of(count, THREADS),
        z,
        teacherLogits,
        results,
        logSums,
        kl,
        scale,
        settings.capLambda(),
        slots,
        first,
        vocabulary);
  }

  /** The logits become their gradient. */
  private void differentiate(Matrix logits, Matrix teacherLogits, int first, int count) {
    launcher.launch(
        FAMILY,
        "loss_gradient",
        Grid.of(count, (vocabulary - 1) / GRADIENT_COLUMNS + 1, THREADS),
        logits,
        teacherLogits,
        results,
        logSums,
        labels,
        supervised,
        kl,
        scale,
        settings.capLambda(),
        slots,
        first,
        vocabulary);
  }

  private HeadLoss.Result result(float[] values) {
    HeadLoss.Result result =
        new HeadLoss.Result(new float[slots], new float[slots], new float[slots], new byte[slots]);
    System.arraycopy(values, 0, result.loss(), 0, slots);
    System.arraycopy(values, slots, result.confidence(), 0, slots);
    System.arraycopy(values, 2 * slots, result.weight(), 0, slots);
    for (int slot = 0; slot < slots; slot++) {
      result.hit()[slot] = (byte) values[3 * slots + slot];
    }
    return result;
  }
}
