package org.draftmill.compute.ops;

/**
 * What the vocabulary loss is computed from (one row per slot 1..B−1 of every block, in block
 * order) and its settings; formulas in docs/drafter.md.
 *
 * @param slotsPerBlock B − 1
 * @param labels {@code [slots]} the token that should be drafted. Unsupervised slots need theirs
 *     too: the streak runs through them (a slot past the end of its document carries the last
 *     token)
 * @param supervised {@code [slots]} 1 or 0: m
 * @param teacherRows {@code [slots]} row of {@code teacherStates} whose logits teach this slot,
 *     valid for unsupervised slots too, or null without soft labels
 * @param chunkRows rows of logits that may exist at once, a multiple of {@code slotsPerBlock}
 */
public record HeadLoss(
    int slotsPerBlock,
    int[] labels,
    byte[] supervised,
    int[] teacherRows,
    int chunkRows,
    Settings settings) {

  /**
   * @param useSoftLabels {@code l = (1 − klWeight)·ce + klWeight·kl} instead of {@code ce}
   * @param klTemperature T of {@code kl = T²·KL(softmax(t/T) ‖ softmax(z/T))}
   * @param gamma position weight {@code exp(−(k−1)/gamma)} of slot k
   * @param streakAlpha D-PACE's α, or NaN when off
   * @param capLambda weight of the confidence term, 0 when off
   */
  public record Settings(
      boolean useSoftLabels,
      float klTemperature,
      float klWeight,
      float gamma,
      float streakAlpha,
      float capLambda) {
    public boolean streak() {
      return !Float.isNaN(streakAlpha);
    }
  }

  /**
   * Per slot, {@code [slots]} each: unweighted {@code loss} (l, and separately {@code confidence} =
   * [argmax z = y]·entropy(q), 0 when off), full weight {@code w} (position and streak, not m), and
   * {@code hit} = [argmax z = y] (ties go to the lowest id).
   */
  public record Result(float[] loss, float[] confidence, float[] weight, byte[] hit) {}
}
