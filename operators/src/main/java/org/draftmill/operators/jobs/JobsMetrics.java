package org.draftmill.operators.jobs;

import org.apache.flink.metrics.MetricGroup;

/**
 * The figures of the list of jobs. Each restart makes a new enumerator, but Flink keeps the metrics
 * that the first one registered: so these belong to the source and not to its enumerators.
 */
final class JobsMetrics {
  private volatile long remaining;
  private volatile long total = -1; // unknown until the plan is open
  private boolean registered;

  /** Shows them in the group of the enumerators, the first time it is called. */
  synchronized void register(MetricGroup enumerators) {
    if (!registered) {
      MetricGroup group = enumerators.addGroup("draftmill").addGroup("jobs");
      group.gauge("jobsRemaining", () -> remaining);
      group.gauge("jobsTotal", () -> total);
      registered = true;
    }
  }

  void set(long newRemaining, long newTotal) {
    remaining = newRemaining;
    total = newTotal;
  }
}
