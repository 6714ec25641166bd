package org.draftmill.compute.decoding;

import org.draftmill.compute.ops.Matrix;
import org.draftmill.compute.ops.Ops;

/** How tokens are taken from logits. One object per sequence. */
interface Selection {

  /**
   * @param accepted n, how many of the proposed tokens the target agrees with, from the first on
   * @param next the target's own token after those
   */
  record Verdict(int accepted, int next) {}

  /** Takes a token from the only row of {@code logits} {@code [1, vocabulary]}. */
  int choose(Matrix logits);

  /** Takes one token for each row of the draft's logits {@code [n, vocabulary]}. */
  int[] propose(Matrix draftLogits);

  /**
   * Compares what was last proposed with the target.
   *
   * @param targetLogits {@code [n + 1, vocabulary]}: row i is what the target wants in the place of
   *     proposal i, the last row what it wants after all of them
   */
  Verdict judge(int[] proposed, Matrix targetLogits);

  static Selection of(DecodingSettings settings, int sequence, Ops ops) {
    return settings.isGreedy()
        ? new GreedySelection(ops)
        : new SamplingSelection(settings.temperature(), settings.seed(), sequence);
  }
}
