package org.draftmill.compute.drafter;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.draftmill.compute.InputException;
import org.draftmill.compute.ops.Backend;
import org.draftmill.compute.ops.DeviceClock;
import org.draftmill.compute.ops.FixedPoint;
import org.draftmill.compute.ops.HeadLoss;
import org.draftmill.compute.ops.Masters;
import org.draftmill.compute.ops.Matrix;
import org.draftmill.compute.target.TargetHead;

/**
 * One drafter of a run: it takes microbatches of a step, and with the others turns their sums into
 * new weights. The weights after a step are the same to the bit on every drafter, and the same
 * whatever the number of drafters, who took which microbatch, and in which order. One thread at a
 * time.
 *
 * <pre>
 * for each step: accumulate(microbatch) or tombstone(), any number of times, then step(collective)
 * </pre>
 */
public final class DrafterTrainer implements AutoCloseable {
  private final DrafterConfig config;
  private final DrafterSettings settings;
  private final String arithmetic;
  private Collective met; // whose members are known to compute alike
  private final PinnedRun run;
  private final int rank;
  private final Shards shards;
  private final DrafterModel model;
  private final Masters masters; // [parameters]
  private final TrainingPass training;
  private final StepSums sums;
  private final StepReduction reduction;
  private final DeviceClock forwardClock;
  private final DeviceClock backwardClock;
  private final DeviceClock optimizerClock;
  private long step;
  private long updates;

  /**
   * @param target embedding and vocabulary head on {@code backend}; must outlive the trainer
   * @param weights first weights {@code [parameters]}, the same on every drafter; taken over
   * @param rank number of this drafter among {@code size}
   */
  public DrafterTrainer(
      Backend backend,
      TargetHead target,
      DrafterConfig config,
      DrafterSettings settings,
      float[] weights,
      int rank,
      int size) {
    this(
        backend, new DrafterModel(backend, config, target, weights), settings, weights, rank, size);
  }

  /** Takes over the model too. */
  DrafterTrainer(
      Backend backend,
      DrafterModel model,
      DrafterSettings settings,
      float[] weights,
      int rank,
      int size) {
    this.config = model.config();
    this.settings = settings;
    this.arithmetic = backend.arithmetic();
    this.run = PinnedRun.of(arithmetic, config, settings);
    this.rank = rank;
    this.model = model;
    ParameterLayout layout = model.layout();
    this.training = new TrainingPass(model, backend);
    this.sums = new StepSums(backend.exactSums(layout.size()), config.slotsPerBlock());
    this.shards = new Shards(layout.size(), size);
    int[] bounds = shards.elementBounds();
    this.masters = backend.masters(weights, bounds[rank], bounds[rank + 1]);
    this.forwardClock = backend.clock();
    this.backwardClock = backend.clock();
    this.optimizerClock = backend.clock();
    this.reduction =
        new StepReduction(layout, shards, settings.optimizer(), masters, optimizerClock);
  }

  public DrafterConfig config() {
    return config;
  }

  /** Number of the step that is being accumulated, from 0. */
  public long step() {
    return step;
  }

  /** Whether the current step has taken anything yet. */
  public boolean inProgress() {
    return sums.inProgress();
  }

  /**
   * All weights in fp32, in the order of {@link ParameterLayout}; valid until the next step. Waits
   * for the device.
   */
  public float[] weights() {
    return masters.toHost(0, masters.size());
  }

  /** Replaces all weights. */
  void setWeights(float[] weights) {
    masters.write(weights, 0, weights.length);
    model.load(masters);
  }

  /** SHA-256 over the little-endian bytes of all weights. */
  public String weightsSha256() {
    return WeightHash.sha256(weights());
  }

  /** What the device has spent on this drafter so far; any thread may ask. */
  public DeviceSeconds deviceSeconds() {
    return new DeviceSeconds(
        forwardClock.seconds(), backwardClock.seconds(), optimizerClock.seconds());
  }

  /** Device memory held. */
  public long bytesHeld() {
    long moments = 2L * (masters.to() - masters.from());
    long step = Float.BYTES * (masters.size() + moments) + (long) Long.BYTES * masters.size();
    return model.bytesHeld() + training.peakBytes() + step;
  }

  /**
   * Forward and backward over a microbatch; its gradient, loss and metrics join the sums of the
   * step.
   *
   * @throws IllegalArgumentException when the microbatch does not fit the drafter
   */
  public MicrobatchFigures accumulate(Microbatch microbatch) {
    return accumulate(microbatch, Anchors.draw(settings.seed(), microbatch, settings.anchors()));
  }

  MicrobatchFigures accumulate(Microbatch microbatch, int[][] anchors) {
    HiddenStates hidden = new HiddenStates(microbatch, config, settings.loss().useSoftLabels());
    Scalars before = new Scalars(sums);
    long forwardNanos = 0;
    long backwardNanos = 0;
    for (Pass pass : passes(microbatch, anchors)) {
      final long start = System.nanoTime();
      forwardClock.start();
      Matrix normed = training.forward(pass, hidden);
      Matrix dNormed = training.gradientLike(normed);
      HeadLoss.Result result =
          training.headLoss(
              pass, hidden, settings.loss(), settings.chunkRows(config), normed, dNormed);
      forwardClock.stop();
      sums.addLoss(result, pass.supervised(), settings.loss().capLambda());
      final long middle = System.nanoTime();
      backwardClock.start();
      training.backward(dNormed, sums);
      backwardClock.stop();
      forwardNanos += middle - start;
      backwardNanos += System.nanoTime() - middle;
      sums.count(StepSums.PASSES, 1);
    }
    sums.checkGradient();
    sums.count(StepSums.MICROBATCHES, 1);
    sums.count(StepSums.TOKENS, microbatch.rows());
    return before.figures(microbatch.rows(), forwardNanos * 1e-9, backwardNanos * 1e-9);
  }

  /**
   * Counts a microbatch that could not be computed: it keeps its place in the step, at weight 0.
   */
  public void tombstone() {
    sums.count(StepSums.TOMBSTONES, 1);
  }

  /** Documents with anchors, in order, as many at once as the pass limit holds. */
  private List<Pass> passes(Microbatch microbatch, int[][] anchors) {
    List<Pass> passes = new ArrayList<>();
    int first = 0;
    int blocks = 0;
    for (int document = 0; document < anchors.length; document++) {
      int more = anchors[document].length;
      if (blocks > 0 && (long) (blocks + more) * config.blockSize() > settings.passRows()) {
        passes.add(new Pass(microbatch, config.blockSize(), first, document, anchors));
        first = document;
        blocks = 0;
      }
      blocks += more;
    }
    if (blocks > 0) {
      passes.add(new Pass(microbatch, config.blockSize(), first, anchors.length, anchors));
    }
    return passes;
  }

  /**
   * Ends the step with all other drafters. Without a supervised slot nothing changes but the step
   * count; with a value that was not finite, neither, and {@link StepFigures#skipped} says so.
   *
   * @throws IOException when another drafter cannot be reached, or holds other weights
   * @throws InputException when the step had more passes than its sums can hold, or another drafter
   *     computes by other means
   */
  public StepFigures step(Collective collective) throws IOException {
    if (collective.rank() != rank || collective.size() != shards.size()) {
      throw new IllegalArgumentException(
          "drafter "
              + rank
              + " of "
              + shards.size()
              + " was given the place "
              + collective.rank()
              + " of "
              + collective.size());
    }
    final long start = System.nanoTime();
    if (collective != met) {
      WeightAgreement.requireSameMeans(collective, arithmetic);
      met = collective;
    }
    collective.allReduce(sums.scalars());
    long reduceNanos = System.nanoTime() - start;
    checkPasses();
    double denominator = sums.get(StepSums.DENOMINATOR) * FixedPoint.UNIT;
    boolean skipped = sums.get(StepSums.FLAGGED) > 0;
    double learningRate = settings.optimizer().learningRate(step, settings.totalSteps());
    double norm = skipped ? Double.NaN : 0;
    long optimizerNanos = 0;
    if (!skipped && denominator > 0) {
      StepReduction.Outcome outcome =
          reduction.apply(collective, sums.gradient(), denominator, learningRate, ++updates);
      norm = outcome.gradientNorm();
      final long loading = System.nanoTime();
      optimizerClock.start();
      model.load(masters);
      optimizerClock.stop();
      reduceNanos += outcome.reduceNanos();
      optimizerNanos = outcome.optimizerNanos() + System.nanoTime() - loading;
    }
    final long agreeing = System.nanoTime();
    WeightAgreement.check(collective, step, masters);
    reduceNanos += System.nanoTime() - agreeing;
    StepFigures figures =
        figures(learningRate, norm, skipped, reduceNanos * 1e-9, optimizerNanos * 1e-9);
    sums.clear();
    step++;
    return figures;
  }

  private void checkPasses() {
    if (sums.get(StepSums.PASSES) > FixedPoint.MAX_ADDENDS) {
      throw new InputException(
          "Step "
              + step
              + " took "
              + sums.get(StepSums.PASSES)
              + " passes, but its sums hold "
              + FixedPoint.MAX_ADDENDS
              + ": lower drafter.accumulation or raise drafter.pass-rows.");
    }
  }

  private StepFigures figures(
      double learningRate,
      double norm,
      boolean skipped,
      double reduceSeconds,
      double optimizerSeconds) {
    double[] bySlot = new double[config.slotsPerBlock()];
    Arrays.setAll(bySlot, slot -> sums.hits(slot) / (double) sums.supervised(slot));
    long supervised = sums.get(StepSums.SUPERVISED);
    return new StepFigures(
        step,
        sums.get(StepSums.NUMERATOR) / (double) sums.get(StepSums.DENOMINATOR),
        sums.hits() / (double) supervised,
        bySlot,
        1 + sums.get(StepSums.JOINT) / (double) sums.get(StepSums.BLOCKS),
        learningRate,
        norm,
        sums.get(StepSums.MICROBATCHES),
        sums.get(StepSums.TOMBSTONES),
        sums.get(StepSums.TOKENS),
        supervised,
        skipped,
        reduceSeconds,
        optimizerSeconds);
  }

  /** A copy of what this drafter must write down; {@link DrafterStateFiles#write} writes it. */
  public DrafterState snapshot() {
    int from = masters.from();
    int length = masters.to() - from;
    float[] weights = new float[length];
    float[] first = new float[length];
    float[] second = new float[length];
    masters.view(from, 1, length).read(weights, 0);
    masters.readMoments(first, second);
    boolean unfinished = sums.inProgress();
    return new DrafterState(
        run,
        rank,
        shards.size(),
        step,
        updates,
        from,
        masters.size(),
        weights,
        first,
        second,
        unfinished ? sums.gradient().toHost().clone() : null,
        unfinished ? sums.scalars().clone() : null);
  }

  /**
   * Goes on from what any number of drafters wrote at one step.
   *
   * @throws InputException naming what differs when the states are of another run, or the place
   *     that is damaged
   */
  public void restore(DrafterStateFiles states) {
    states.requireSame(run);
    masters.write(states.weights(), 0, masters.size());
    int length = masters.to() - masters.from();
    float[] first = new float[length];
    float[] second = new float[length];
    states.readFloats(DrafterStateFile.FIRST_MOMENTS, masters.from(), first);
    states.readFloats(DrafterStateFile.SECOND_MOMENTS, masters.from(), second);
    masters.writeMoments(first, second);
    sums.clear();
    long[] gradient = sums.gradient().toHost();
    states.addSums(rank, shards.size(), gradient, sums.scalars());
    sums.gradient().write(gradient);
    step = states.step();
    updates = states.updates();
    model.load(masters);
  }

  @Override
  public void close() {
    forwardClock.close();
    backwardClock.close();
    optimizerClock.close();
    masters.close();
    sums.close();
    training.close();
    model.close();
  }

  /** The scalars before a microbatch, to tell afterwards what it added. */
  private record Scalars(
      StepSums sums,
      long blocks,
      long supervised,
      long hits,
      long denominator,
      long numerator,
      long joint,
      long flagged) {

    Scalars(StepSums sums) {
      this(
          sums,
          sums.get(StepSums.BLOCKS),
          sums.get(StepSums.SUPERVISED),
          sums.hits(),
          sums.get(StepSums.DENOMINATOR),
          sums.get(StepSums.NUMERATOR),
          sums.get(StepSums.JOINT),
          sums.get(StepSums.FLAGGED));
    }

    MicrobatchFigures figures(int rows, double forwardSeconds, double backwardSeconds) {
      Scalars now = new Scalars(sums);
      return new MicrobatchFigures(
          rows,
          now.blocks - blocks,
          now.supervised - supervised,
          now.hits - hits,
          (now.denominator - denominator) * FixedPoint.UNIT,
          (now.numerator - numerator) * FixedPoint.UNIT,
          now.joint - joint,
          now.flagged > flagged,
          forwardSeconds,
          backwardSeconds);
    }
  }
}
