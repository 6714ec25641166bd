package org.draftmill.benchmarks;

/**
 * How long planning takes, within a heap that is not exceeded: a JVM of that heap plans, writes the
 * plan and reads it, see {@link PlanRun}.
 */
public final class PlanBenchmark {
  private PlanBenchmark() {}

  /** {@code [--smoke]}: a hundredth of the sequences. */
  public static void main(String[] args) throws Exception {
    Results results = new Results("plan", args);
    int divisor = results.isSmoke() ? 100 : 1;
    measure(results, "_1m", 1_000_000 / divisor, "1g");
    measure(results, "_10m", 10_000_000 / divisor, "4g");
    results.atMost("plan_seconds_1m", 10);
    results.atMost("plan_seconds_10m", 100);
    results.write();
  }

  private static void measure(Results results, String suffix, int sequences, String heap)
      throws Exception {
    ChildJvm.figures(heap, PlanRun.class, Integer.toString(sequences))
        .forEach((name, value) -> results.figure(name + suffix, value));
  }
}
