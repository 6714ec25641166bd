package org.draftmill.operators.pool;

import java.util.function.ToLongFunction;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.MetricGroup;
import org.draftmill.operators.pool.PoolShard.Waiting;

/**
 * The figures of a subtask of the pool, in the group {@code draftmill.pool}. The limits are those
 * of its shards together, to be charted beside what they hold.
 */
final class PoolMetrics {
  private final Pool pool;
  private final Counter releases;
  private final WaitClock clock;

  PoolMetrics(Pool pool, PoolSettings settings, MetricGroup operatorGroup) {
    this.pool = pool;
    clock = new WaitClock(pool.waiting(), System::nanoTime);
    MetricGroup group = operatorGroup.addGroup("draftmill").addGroup("pool");
    releases = group.counter("releases");
    gauge(group, "step", () -> Math.min(pool.step(), settings.list(0).steps()));
    gauge(group, "readyMicrobatches", () -> sum(PoolShard::readyMicrobatches));
    gauge(group, "readyBytes", () -> sum(PoolShard::bytes));
    for (int b = 0; b < settings.run().buckets(); b++) {
      int bucket = b;
      gauge(
          group.addGroup("bucket", Integer.toString(b)),
          "readyMicrobatches",
          () -> sum(shard -> shard.readyOfBucket(bucket)));
    }
    gauge(group, "minReady", () -> sum(shard -> settings.minReady()));
    gauge(group, "maxReady", () -> sum(shard -> settings.maxReady()));
    gauge(group, "maxBytes", () -> sum(shard -> settings.maxMemoryBytes()));
    gauge(group, "minReadyStallSeconds", this::minReadyStallSeconds);
    gauge(group, "waitForJobSeconds", () -> clock.seconds(Waiting.JOB));
    gauge(group, "waitForDemandSeconds", () -> clock.seconds(Waiting.DEMAND));
    gauge(group, "waitForStepSeconds", () -> clock.seconds(Waiting.MARKER));
  }

  /** The pool may have changed. */
  void update() {
    clock.set(pool.waiting());
  }

  double minReadyStallSeconds() {
    return clock.seconds(Waiting.MIN_READY);
  }

  void released() {
    releases.inc();
  }

  private long sum(ToLongFunction<PoolShard> figure) {
    return pool.shards().stream().mapToLong(figure).sum();
  }

  private static <T> void gauge(MetricGroup group, String name, Gauge<T> gauge) {
    group.gauge(name, gauge);
  }
}
