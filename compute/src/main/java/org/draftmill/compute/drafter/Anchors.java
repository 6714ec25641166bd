package org.draftmill.compute.drafter;

import java.util.Arrays;

/**
 * Which positions of a document start a draft block. A position {@code t} is a candidate when it
 * and the next one are supervised ({@code lossMask[t] = lossMask[t + 1] = 1}); of the candidates at
 * most {@code limit} are drawn, uniformly and without replacement.
 *
 * <p>The draw is a pure function of (seed, epoch, sequence id): it does not matter who draws it,
 * what else is in the microbatch, or whether it is drawn again after a restart.
 */
public final class Anchors {
  private static final int[] NONE = {};

  private Anchors() {}

  /**
   * The anchors of one document.
   *
   * @param lossMask mask of a whole microbatch, {@code [rows]}
   * @param start first row of the document
   * @param end row after its last one
   * @param limit most anchors that are drawn
   * @return ascending positions within the document, none when nothing is supervised
   */
  public static int[] draw(
      long seed, int epoch, long sequenceId, byte[] lossMask, int start, int end, int limit) {
    int candidates = 0;
    for (int row = start; row < end - 1; row++) {
      candidates += isCandidate(lossMask, row) ? 1 : 0;
    }
    int wanted = Math.min(candidates, limit);
    if (wanted <= 0) {
      return NONE;
    }
    int[] anchors = new int[wanted];
    CounterRandom random = CounterRandom.of(seed, epoch, sequenceId);
    int found = 0;
    // Selection sampling: each candidate is taken with probability (still wanted) / (still left).
    for (int row = start, left = candidates; found < wanted; row++) {
      if (isCandidate(lossMask, row)) {
        if (random.below(left--) < wanted - found) {
          anchors[found++] = row - start;
        }
      }
    }
    return anchors;
  }

  /** The anchors of every document of a microbatch. */
  static int[][] draw(long seed, Microbatch microbatch, int limit) {
    int[][] anchors = new int[microbatch.documents()][];
    Arrays.setAll(
        anchors,
        document ->
            draw(
                seed,
                microbatch.epoch(),
                microbatch.sequenceIds()[document],
                microbatch.lossMask(),
                microbatch.documentStarts()[document],
                microbatch.documentStarts()[document + 1],
                limit));
    return anchors;
  }

  private static boolean isCandidate(byte[] lossMask, int row) {
    return (lossMask[row] & lossMask[row + 1]) == 1;
  }
}
