package org.draftmill.benchmarks;

import java.io.Serializable;

/**
 * What flows between targets and drafters that sleep as long as they would compute.
 *
 * @param targetMillis a job takes, by subtask
 * @param drafterMillis a microbatch takes, by subtask
 * @param jobs in all
 * @param chunks of a microbatch
 * @param chunkBytes of a chunk
 * @param maxReady microbatches in the pool
 */
record BalanceScene(
    int[] targetMillis, int[] drafterMillis, int jobs, int chunks, int chunkBytes, int maxReady)
    implements Serializable {

  /** Five unequal targets that could feed three times as many drafters; small microbatches. */
  static BalanceScene unequal(int jobs) {
    return new BalanceScene(
        new int[] {2, 3, 4, 6, 50}, new int[] {5, 20, 60}, jobs, 1, 256 << 10, 60);
  }

  /**
   * A quarter of the flow of a real run of five targets and three drafters: 3,072 tokens of five
   * taps of an 8-billion-parameter model (126 MB) a microbatch, 4.8 thousand tokens a second.
   */
  static BalanceScene quarter(int jobs) {
    return new BalanceScene(
        new int[] {2_000, 2_000, 2_500, 2_500, 3_000},
        new int[] {1_500, 2_000, 2_500},
        jobs,
        30,
        4 << 20,
        15);
  }

  /** A short one of the same kind. */
  BalanceScene hundredth() {
    int[] targets = targetMillis.clone();
    int[] drafters = drafterMillis.clone();
    for (int i = 0; i < targets.length; i++) {
      targets[i] /= 100;
    }
    for (int i = 0; i < drafters.length; i++) {
      drafters[i] /= 100;
    }
    return new BalanceScene(targets, drafters, jobs, chunks, chunkBytes / 100, maxReady);
  }
}
