package org.draftmill.job.train;

import java.nio.file.Path;
import org.draftmill.compute.drafter.DrafterConfig;
import org.draftmill.compute.drafter.ParameterLayout;
import org.draftmill.compute.target.Taps;
import org.draftmill.compute.target.TargetConfig;
import org.draftmill.job.balance.Balance;
import org.draftmill.job.balance.StageWork;
import org.draftmill.serializers.HiddenDType;
import org.draftmill.serializers.HiddenStateChunkFormat;

/**
 * One worked example of {@code docs/sizing.md}: a Qwen3-8B target and a drafter of five layers on
 * so many hosts. What the code computes is taken from the code.
 *
 * @param hosts of eight GPUs, five targets to three drafters on each
 * @param accumulation microbatches of a step
 * @param tokenBudget of a microbatch
 * @param passRows of the drafters, which memory of the GPU allows
 */
record SizingExample(int hosts, int accumulation, int tokenBudget, int passRows) {
  static final int TARGETS_PER_HOST = 5;
  static final int DRAFTERS_PER_HOST = 3;
  static final int MAX_READY = 60;

  /** Tokens a second of one target and of one drafter: assumed, {@code balance} measures them. */
  static final double TARGET_RATE = 4_000;

  static final double DRAFTER_RATE = 6_500;

  /** Bytes a second: a network of 100 Gbit/s, one TCP stream as measured, a file system a host. */
  static final double LINK = 12.5e9;

  static final double STREAM = 1e9;
  static final double STORAGE = 2e9;

  static final TargetConfig TARGET =
      TargetConfig.read(Path.of("src", "test", "resources", "sizing", "qwen3-8b"));
  static final Taps TAPS = Taps.of(1, 9, 17, 25, 33);
  static final int BLOCK_SIZE = 16;
  static final int ANCHORS = 512;
  private static final int SHORT_SEQUENCE = 256; // mean of the first bucket

  static final long PARAMETERS =
      new ParameterLayout(
              DrafterConfig.of(TARGET, DrafterConfig.Choices.full(TAPS, 5, BLOCK_SIZE, 151_669)))
          .size();

  int targets() {
    return hosts * TARGETS_PER_HOST;
  }

  int drafters() {
    return hosts * DRAFTERS_PER_HOST;
  }

  /** A row of hidden states on its way, in bytes. */
  static long bytesPerToken() {
    int columns = TAPS.count() * TARGET.hidden();
    return HiddenStateChunkFormat.smallestChunk(columns, 0, HiddenDType.BFLOAT16)
        - HiddenStateChunkFormat.smallestChunk(0, 0, HiddenDType.BFLOAT16)
        + Integer.BYTES
        + 1;
  }

  /** Of the whole run, if nothing but the two stages took time. */
  double tokensPerSecond() {
    return new Balance(
            new StageWork(targets(), targets() * TARGET_RATE, targets(), 0, 1),
            new StageWork(drafters(), drafters() * DRAFTER_RATE, drafters(), 0, 1),
            accumulation,
            Balance.ENOUGH_STEPS)
        .present()
        .tokensPerSecond();
  }

  long tokensPerStep() {
    return (long) accumulation * tokenBudget;
  }

  long passes() {
    return new PassLimit.Step(
            tokenBudget, tokenBudget / SHORT_SEQUENCE, BLOCK_SIZE, ANCHORS, passRows, accumulation)
        .passes();
  }

  double stepSeconds() {
    return tokensPerStep() / tokensPerSecond();
  }

  /** Bytes a second that a host sends: what its targets make and what its pool hands out. */
  double networkPerHost() {
    double crossing = 1 - 1.0 / hosts;
    return 2 * bytesPerToken() * tokensPerSecond() / hosts * crossing;
  }

  long microbatchBytes() {
    return tokenBudget * bytesPerToken();
  }

  /** One shard of the pool a host, full, and what is between the stages. */
  long poolPerHost() {
    return microbatchBytes()
        * (MAX_READY + Estimates.IN_FLIGHT * (TARGETS_PER_HOST + DRAFTERS_PER_HOST));
  }

  /** Bytes that each drafter sends in a step: 64-bit sums once around, fp32 weights once around. */
  double reduceBytes() {
    return (Long.BYTES + Float.BYTES) * (double) PARAMETERS * (drafters() - 1) / drafters();
  }

  /** Share of the time that is left for computing when the all-reduce runs at so many bytes/s. */
  double efficiency(double bytesPerSecond) {
    return stepSeconds() / (stepSeconds() + reduceBytes() / bytesPerSecond);
  }

  /** What the drafters write: weights and moments once, partial sums each. */
  double drafterStateBytes() {
    return (double) PARAMETERS
        * (Estimates.SHARED_BYTES + (double) Estimates.SUM_BYTES * drafters());
  }

  double checkpointPerHost() {
    return drafterStateBytes() / hosts + (double) MAX_READY * microbatchBytes();
  }

  double jobsPerSecond() {
    return tokensPerSecond() / tokenBudget;
  }
}
