package org.draftmill.benchmarks;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.draftmill.corpus.Fingerprint;
import org.draftmill.corpus.plan.BucketBounds;
import org.draftmill.corpus.plan.Oversized;
import org.draftmill.corpus.plan.PlanInput;
import org.draftmill.corpus.plan.PlanOptions;
import org.draftmill.corpus.plan.PlanWriter;

/** Plans of datasets that need not be there. */
final class Plans {
  private static final int TOKENS_OF_JOB = 8;

  private Plans() {}

  /**
   * Lengths of chats: log-normal with a median of 500 tokens and a mean of 750, a thirtieth of them
   * beyond 2,500, none beyond 32,768.
   */
  static int[] chatLengths(int sequences, long seed) {
    Random random = new Random(seed);
    int[] lengths = new int[sequences];
    for (int id = 0; id < sequences; id++) {
      double length = 500 * Math.exp(0.9 * random.nextGaussian());
      lengths[id] = (int) Math.max(16, Math.min(32_768, length));
    }
    return lengths;
  }

  /** What a planner is told of a dataset of these lengths in which every token is supervised. */
  static PlanInput input(int[] lengths) {
    return new PlanInput(
        Fingerprint.of(new byte[Fingerprint.BYTES]),
        lengths,
        Arrays.stream(lengths).asLongStream().sum(),
        id -> lengths[(int) id]);
  }

  /** Writes a plan of a number of jobs of one short sequence each. */
  static void write(Path directory, int jobs) throws IOException {
    int[] lengths = new int[jobs];
    Arrays.fill(lengths, TOKENS_OF_JOB);
    PlanOptions options =
        new PlanOptions(42, 1, TOKENS_OF_JOB, new BucketBounds(List.of(16)), Oversized.OWN_JOB);
    PlanWriter.write(input(lengths), options, directory);
  }
}
