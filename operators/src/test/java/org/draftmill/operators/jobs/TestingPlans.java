package org.draftmill.operators.jobs;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.draftmill.corpus.Fingerprint;
import org.draftmill.corpus.plan.BucketBounds;
import org.draftmill.corpus.plan.Oversized;
import org.draftmill.corpus.plan.PlanInput;
import org.draftmill.corpus.plan.PlanOptions;
import org.draftmill.corpus.plan.PlanWriter;

/** Plans of a given number of jobs, on disk. */
public final class TestingPlans {
  private static final int LENGTH = 8;

  private TestingPlans() {}

  /** Writes a plan whose jobs have one sequence of eight tokens each. */
  public static String write(Path directory, int jobsPerEpoch, int epochs) throws IOException {
    int[] lengths = new int[jobsPerEpoch];
    Arrays.fill(lengths, LENGTH);
    PlanInput input =
        new PlanInput(
            Fingerprint.of(new byte[Fingerprint.BYTES]),
            lengths,
            (long) LENGTH * jobsPerEpoch,
            id -> LENGTH);
    PlanOptions options =
        new PlanOptions(42, epochs, LENGTH, new BucketBounds(List.of(16)), Oversized.OWN_JOB);
    PlanWriter.write(input, options, directory);
    return directory.toUri().toString();
  }
}
