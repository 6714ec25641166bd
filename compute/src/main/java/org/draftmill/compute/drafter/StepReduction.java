package org.draftmill.compute.drafter;

import java.io.IOException;
import java.util.Arrays;
import java.util.stream.IntStream;
import org.draftmill.compute.ops.FixedPoint;

/**
 * The end of a step over all drafters: sums to one gradient, its global norm, and AdamW on this
 * drafter's shard.
 *
 * <pre>
 * g    = Σ gradients / Σ m·w                  one division, after the exact sum
 * norm = √(Σ over blocks of Σ g²)             in double, blocks and their order fixed
 * g    = g · min(1, clip / (norm + 1e-6))
 * </pre>
 */
final class StepReduction {
  private static final double CLIP_SLACK = 1e-6;

  private final Shards shards;
  private final int rank;
  private final OptimizerSettings settings;
  private final AdamW adamW;
  private final double[] blockSquares; // [blocks]
  private final float[][] scratch; // one block for each worker

  StepReduction(Shards shards, int rank, OptimizerSettings settings, AdamW adamW) {
    this.shards = shards;
    this.rank = rank;
    this.settings = settings;
    this.adamW = adamW;
    this.blockSquares = new double[shards.blocks()];
    int own = endBlock() - firstBlock();
    int workers = Math.max(1, Math.min(own / 4, Runtime.getRuntime().availableProcessors()));
    this.scratch = new float[workers][Math.min(Shards.BLOCK, shards.parameters())];
  }

  /** Where the seconds went, and the norm before clipping. */
  record Outcome(double gradientNorm, long reduceNanos, long optimizerNanos) {}

  /**
   * @param gradient this drafter's sums {@code [parameters]}; undefined afterwards
   * @param denominator Σ m·w of the step, all drafters together; positive
   * @param update number of this update, from 1
   * @param weights {@code [parameters]} all of them, replaced by the new ones
   */
  Outcome apply(
      Collective collective,
      long[] gradient,
      double denominator,
      double learningRate,
      long update,
      float[] weights)
      throws IOException {
    final long start = System.nanoTime();
    int[] bounds = shards.elementBounds();
    collective.reduceScatter(gradient, bounds);
    final long summed = System.nanoTime();
    double mean = FixedPoint.UNIT / denominator;
    forEachOwnBlock((block, worker) -> blockSquares[block] = squares(gradient, block, mean));
    final long squared = System.nanoTime();
    collective.allGather(blockSquares, shards.blockBounds());
    double norm = Math.sqrt(Arrays.stream(blockSquares).reduce(0, Double::sum));
    final long gathered = System.nanoTime();
    double factor = mean * Math.min(1, settings.clip() / (norm + CLIP_SLACK));
    AdamW.Rates rates = adamW.rates(learningRate, update);
    forEachOwnBlock(
        (block, worker) -> {
          int begin = shards.blockStart(block);
          int end = shards.blockStart(block + 1);
          float[] mine = scratch[worker];
          for (int i = begin; i < end; i++) {
            mine[i - begin] = (float) (gradient[i] * factor);
          }
          adamW.update(rates, begin, end, mine, weights);
        });
    final long updated = System.nanoTime();
    collective.allGather(weights, bounds);
    final long end = System.nanoTime();
    return new Outcome(
        norm,
        (summed - start) + (gathered - squared) + (end - updated),
        (squared - summed) + (updated - gathered));
  }

  /** Σ g² of one block: four interleaved sums, then those. */
  private double squares(long[] gradient, int block, double mean) {
    int begin = shards.blockStart(block);
    int end = shards.blockStart(block + 1);
    int whole = end - (end - begin) % 4;
    double a = 0;
    double b = 0;
    double c = 0;
    double d = 0;
    for (int i = begin; i < whole; i += 4) {
      double g0 = gradient[i] * mean;
      double g1 = gradient[i + 1] * mean;
      double g2 = gradient[i + 2] * mean;
      double g3 = gradient[i + 3] * mean;
      a += g0 * g0;
      b += g1 * g1;
      c += g2 * g2;
      d += g3 * g3;
    }
    for (int i = whole; i < end; i++) {
      double g = gradient[i] * mean;
      a += g * g;
    }
    return (a + b) + (c + d);
  }

  private interface BlockTask {
    void run(int block, int worker);
  }

  /** Blocks are independent, so the number of workers does not show in any result. */
  private void forEachOwnBlock(BlockTask task) {
    int first = firstBlock();
    int own = endBlock() - first;
    int workers = scratch.length;
    IntStream.range(0, workers)
        .parallel()
        .forEach(
            worker -> {
              int end = first + (int) ((long) own * (worker + 1) / workers);
              for (int block = first + (int) ((long) own * worker / workers);
                  block < end;
                  block++) {
                task.run(block, worker);
              }
            });
  }

  private int firstBlock() {
    return shards.blockBounds()[rank];
  }

  private int endBlock() {
    return shards.blockBounds()[rank + 1];
  }
}
