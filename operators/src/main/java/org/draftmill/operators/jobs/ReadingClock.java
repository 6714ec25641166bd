package org.draftmill.operators.jobs;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/** Knows how long the enumerator has waited for a file system. Of one thread. */
final class ReadingClock {
  private final Duration timeout;
  private final LongSupplier nanoTime;
  private boolean running;
  private long since;

  ReadingClock(Duration timeout, LongSupplier nanoTime) {
    this.timeout = timeout;
    this.nanoTime = nanoTime;
  }

  void start() {
    running = true;
    since = nanoTime.getAsLong();
  }

  void stop() {
    running = false;
  }

  /**
   * @param file that is being read
   * @param job position of the first one that is missing
   * @throws IllegalStateException if reading lasts longer than allowed
   */
  void check(String file, long job) {
    long nanos = nanoTime.getAsLong() - since;
    if (running && nanos > timeout.toNanos()) {
      throw new IllegalStateException(
          "The stage jobs hangs: reading the list of jobs in %s, from job %d on, has lasted %d s, longer than %s (%d s) allows; its file system does not answer."
              .formatted(
                  file,
                  job,
                  TimeUnit.NANOSECONDS.toSeconds(nanos),
                  JobsOptions.TIMEOUT.key(),
                  timeout.toSeconds()));
    }
  }
}
