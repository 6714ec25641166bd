package org.draftmill.compute.drafter;

import org.draftmill.compute.InputException;
import org.draftmill.compute.ops.AdamW;

/**
 * AdamW and its learning rate. Defaults of the field are in {@link #DEFAULTS}.
 *
 * @param learningRate the largest, after the warm-up
 * @param warmup part of all steps over which the rate grows linearly, 0 to 1
 * @param schedule what happens after the warm-up
 * @param decay part of all steps over which {@link Schedule#WSD} falls to zero at the end
 * @param weightDecay decoupled, on matrices only
 * @param clip largest global norm of the gradient
 * @param beta1 decay of the first moment
 * @param beta2 decay of the second moment
 * @param epsilon added to the root of the second moment
 */
public record OptimizerSettings(
    double learningRate,
    double warmup,
    Schedule schedule,
    double decay,
    double weightDecay,
    double clip,
    double beta1,
    double beta2,
    double epsilon) {

  /** What the learning rate does after the warm-up. */
  public enum Schedule {
    /** Stays. */
    CONSTANT,
    /** Falls to zero along half a cosine. */
    COSINE,
    /** Stays, then falls linearly to zero over the last {@code decay} of all steps. */
    WSD
  }

  public static final OptimizerSettings DEFAULTS =
      new OptimizerSettings(6e-4, 0.04, Schedule.COSINE, 0.2, 0.0, 1.0, 0.9, 0.95, 1e-8);

  public OptimizerSettings {
    require(learningRate > 0, "lr", learningRate, "must be positive");
    require(warmup >= 0 && warmup <= 1, "warmup", warmup, "must lie between 0 and 1");
    require(decay >= 0 && decay <= 1, "decay", decay, "must lie between 0 and 1");
    require(weightDecay >= 0, "weight-decay", weightDecay, "must not be negative");
    require(clip > 0, "clip", clip, "must be positive");
    require(beta1 >= 0 && beta1 < 1, "betas", beta1, "must hold numbers from 0 to below 1");
    require(beta2 >= 0 && beta2 < 1, "betas", beta2, "must hold numbers from 0 to below 1");
    require(epsilon > 0, "epsilon", epsilon, "must be positive");
  }

  /**
   * The learning rate of a step.
   *
   * @param step from 0
   * @param totalSteps of the whole run
   */
  public double learningRate(long step, long totalSteps) {
    double warmupSteps = Math.rint(warmup * totalSteps);
    if (step < warmupSteps) {
      return learningRate * (step + 1) / warmupSteps;
    }
    return learningRate
        * switch (schedule) {
          case CONSTANT -> 1.0;
          case COSINE -> {
            double part = (step - warmupSteps) / Math.max(1, totalSteps - warmupSteps);
            yield 0.5 + 0.5 * StrictMath.cos(StrictMath.PI * Math.min(1, part));
          }
          case WSD -> {
            double decaySteps = Math.rint(decay * totalSteps);
            double left = Math.max(0, totalSteps - step);
            yield left < decaySteps ? left / decaySteps : 1.0;
          }
        };
  }

  /**
   * What an update multiplies with.
   *
   * @param update its number, from 1
   */
  AdamW adamW(double rate, long update) {
    return AdamW.of(rate, beta1, beta2, epsilon, weightDecay, update);
  }

  private static void require(boolean condition, String key, double found, String demand) {
    if (!condition) { // also when found is not a number
      throw new InputException(
          "drafter.optimizer." + key + " is " + found + ", but it " + demand + ".");
    }
  }
}
