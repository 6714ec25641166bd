package org.draftmill.compute.drafter;

import java.util.Arrays;
import org.draftmill.compute.drafter.ParameterLayout.Parameter;
import org.draftmill.compute.ops.ExactSums;
import org.draftmill.compute.ops.FixedPoint;
import org.draftmill.compute.ops.HeadLoss;
import org.draftmill.compute.ops.Matrix;

/**
 * What a drafter adds up during a step, all of it integers, so that neither the order of the
 * microbatches nor their distribution over drafters shows in the totals: the gradient, on the
 * device, in {@link FixedPoint} and the scalars below, two of them in {@link FixedPoint} too.
 */
final class StepSums implements GradientSink, AutoCloseable {
  static final int MICROBATCHES = 0;
  static final int TOMBSTONES = 1;
  static final int PASSES = 2;

  /** Losses of passes, and gradients, with a value not finite or too large for its sum. */
  static final int FLAGGED = 3;

  static final int TOKENS = 4;
  static final int SUPERVISED = 5;
  static final int BLOCKS = 6;

  /** Length of the run of hits at the start of each block, added up. */
  static final int JOINT = 7;

  /** Σ m·w, fixed point. */
  static final int DENOMINATOR = 8;

  /** Σ m·(w·l + cap), fixed point. */
  static final int NUMERATOR = 9;

  private static final int FIRST_BY_SLOT = 10;

  private final int slotsPerBlock;
  private final ExactSums gradient; // [parameters]
  private final long[] scalars; // the above, then supervised by slot, then hits by slot
  private boolean sound = true; // the gradient, when it was last asked

  /**
   * @param gradient {@code [parameters]}, zero; taken over
   */
  StepSums(ExactSums gradient, int slotsPerBlock) {
    this.slotsPerBlock = slotsPerBlock;
    this.gradient = gradient;
    this.scalars = new long[scalars(slotsPerBlock)];
  }

  static int scalars(int slotsPerBlock) {
    return FIRST_BY_SLOT + 2 * slotsPerBlock;
  }

  /** The sums of the gradient {@code [parameters]}. */
  ExactSums gradient() {
    return gradient;
  }

  long[] scalars() {
    return scalars;
  }

  long get(int scalar) {
    return scalars[scalar];
  }

  void count(int scalar, long more) {
    scalars[scalar] += more;
  }

  /** Whether anything was added since {@link #clear}. */
  boolean inProgress() {
    return scalars[MICROBATCHES] + scalars[TOMBSTONES] > 0;
  }

  long supervised(int slot) {
    return scalars[FIRST_BY_SLOT + slot];
  }

  long hits(int slot) {
    return scalars[FIRST_BY_SLOT + slotsPerBlock + slot];
  }

  /** Hits of all slots. */
  long hits() {
    long hits = 0;
    for (int slot = 0; slot < slotsPerBlock; slot++) {
      hits += hits(slot);
    }
    return hits;
  }

  @Override
  public void accept(Parameter parameter, Matrix values) {
    gradient.add(values, parameter.offset());
  }

  /** Raises the flag when a gradient has spoilt its sums; waits for the device. */
  void checkGradient() {
    if (sound && !gradient.sound()) {
      sound = false;
      scalars[FLAGGED]++;
    }
  }

  /** Adds the loss and the metrics of a pass: per-slot results and which slots count. */
  void addLoss(HeadLoss.Result result, byte[] supervised, float capLambda) {
    double denominator = 0;
    double numerator = 0;
    int blocks = supervised.length / slotsPerBlock;
    for (int b = 0; b < blocks; b++) {
      int run = 1;
      for (int k = 0; k < slotsPerBlock; k++) {
        int slot = b * slotsPerBlock + k;
        int hit = supervised[slot] * result.hit()[slot];
        run *= hit;
        scalars[JOINT] += run;
        if (supervised[slot] == 1) {
          double w = result.weight()[slot];
          denominator += w;
          numerator += w * (result.loss()[slot] + capLambda * (double) result.confidence()[slot]);
          scalars[SUPERVISED]++;
          scalars[FIRST_BY_SLOT + k]++;
          scalars[FIRST_BY_SLOT + slotsPerBlock + k] += hit;
        }
      }
    }
    scalars[BLOCKS] += blocks;
    if (FixedPoint.fits(denominator) && FixedPoint.fits(numerator)) {
      scalars[DENOMINATOR] += FixedPoint.of(denominator);
      scalars[NUMERATOR] += FixedPoint.of(numerator);
    } else {
      scalars[FLAGGED]++;
    }
  }

  void clear() {
    gradient.clear();
    sound = true;
    Arrays.fill(scalars, 0);
  }

  @Override
  public void close() {
    gradient.close();
  }
}
