package org.draftmill.compute.drafter;

import java.io.IOException;
import java.util.Arrays;
import org.draftmill.compute.drafter.ParameterLayout.Parameter;
import org.draftmill.compute.ops.AdamW;
import org.draftmill.compute.ops.DeviceClock;
import org.draftmill.compute.ops.ExactSums;
import org.draftmill.compute.ops.FixedPoint;
import org.draftmill.compute.ops.Masters;

/**
 * The end of a step over all drafters: sums to one gradient, its global norm, and AdamW on this
 * drafter's shard. Sums, weights and moments stay on the device; what crosses is what the group
 * exchanges.
 *
 * <pre>
 * g    = Σ gradients / Σ m·w                  one division, after the exact sum
 * norm = √(Σ over blocks of Σ g²)             in double, blocks and their order fixed
 * g    = g · min(1, clip / (norm + 1e-6))
 * </pre>
 */
final class StepReduction {
  private static final double CLIP_SLACK = 1e-6;

  private final ParameterLayout layout;
  private final Shards shards;
  private final OptimizerSettings settings;
  private final Masters masters;
  private final DeviceClock clock;
  private final double[] blockSquares; // [blocks]

  /**
   * @param masters whose shard is this drafter's among {@code shards}
   * @param clock measures what is computed
   */
  StepReduction(
      ParameterLayout layout,
      Shards shards,
      OptimizerSettings settings,
      Masters masters,
      DeviceClock clock) {
    this.layout = layout;
    this.shards = shards;
    this.settings = settings;
    this.masters = masters;
    this.clock = clock;
    this.blockSquares = new double[shards.blocks()];
  }

  /** Where the seconds went, and the norm before clipping. */
  record Outcome(double gradientNorm, long reduceNanos, long optimizerNanos) {}

  /**
   * Replaces the weights by the new ones, all of them.
   *
   * @param gradient this drafter's sums {@code [parameters]}; undefined afterwards
   * @param denominator Σ m·w of the step, all drafters together; positive
   * @param update number of this update, from 1
   */
  Outcome apply(
      Collective collective,
      ExactSums gradient,
      double denominator,
      double learningRate,
      long update)
      throws IOException {
    final long start = System.nanoTime();
    int[] bounds = shards.elementBounds();
    collective.reduceScatter(gradient, bounds);
    final long summed = System.nanoTime();
    double mean = FixedPoint.UNIT / denominator;
    clock.start();
    masters.squares(gradient, mean, blockSquares);
    clock.stop();
    final long squared = System.nanoTime();
    collective.allGather(blockSquares, shards.blockBounds());
    double norm = Math.sqrt(Arrays.stream(blockSquares).reduce(0, Double::sum));
    final long gathered = System.nanoTime();
    double factor = mean * Math.min(1, settings.clip() / (norm + CLIP_SLACK));
    clock.start();
    update(gradient, factor, settings.adamW(learningRate, update));
    clock.stop();
    final long updated = System.nanoTime();
    collective.allGather(masters, bounds);
    final long end = System.nanoTime();
    return new Outcome(
        norm,
        (summed - start) + (gathered - squared) + (end - updated),
        (squared - summed) + (updated - gathered));
  }

  /** Tensor by tensor, for only matrices decay. */
  private void update(ExactSums gradient, double factor, AdamW adamW) {
    for (Parameter parameter : layout.parameters()) {
      int begin = Math.max(masters.from(), parameter.offset());
      int end = Math.min(masters.to(), parameter.offset() + parameter.size());
      if (begin < end) {
        masters.update(
            gradient, factor, parameter.matrix() ? adamW : adamW.withoutDecay(), begin, end);
      }
    }
  }
}
