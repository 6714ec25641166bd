package org.draftmill.benchmarks;

/** Times something again and again. */
final class Stopwatch {
  private final double seconds;

  /**
   * @param seconds how long each thing is measured, after as long again to warm up
   */
  Stopwatch(double seconds) {
    this.seconds = seconds;
  }

  interface Work {
    void run() throws Exception;
  }

  /** The shortest time of one round in seconds: what the machine can do undisturbed. */
  double best(Work work) throws Exception {
    repeat(work);
    return repeat(work);
  }

  private double repeat(Work work) throws Exception {
    double best = Double.POSITIVE_INFINITY;
    long end = System.nanoTime() + (long) (seconds * 1e9);
    int rounds = 0;
    while (rounds < 3 || System.nanoTime() < end) {
      long start = System.nanoTime();
      work.run();
      best = Math.min(best, (System.nanoTime() - start) * 1e-9);
      rounds++;
    }
    return best;
  }
}
