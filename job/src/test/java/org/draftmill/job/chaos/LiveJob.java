package org.draftmill.job.chaos;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.apache.flink.api.common.JobID;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.Metric;

/**
 * Looks at a job that runs in this process, from outside: at the stacks of its threads and at its
 * metrics as they are, without the code of the job knowing. One thread looks.
 */
final class LiveJob {
  private final JobID job;
  private final Shape shape;
  private final Map<String, Double> last = new HashMap<>();

  /**
   * What a job's numbers are compared with.
   *
   * @param minReady microbatches below which the pool releases nothing, all shards together
   */
  record Shape(long steps, int epochs, int minReady) {}

  LiveJob(JobID job, Shape shape) {
    this.job = job;
    this.shape = shape;
  }

  // ---- threads

  /** A thread whose name begins so. */
  Optional<Thread> thread(String prefix) {
    return threads(prefix).findAny();
  }

  /** A thread whose name begins so and that is in a method, however deep below it. */
  Optional<Thread> threadIn(String prefix, String simpleClass, String method) {
    return threads(prefix).filter(thread -> isIn(thread, simpleClass, method)).findAny();
  }

  private static boolean isIn(Thread thread, String simpleClass, String method) {
    for (StackTraceElement frame : thread.getStackTrace()) {
      if (frame.getMethodName().equals(method)
          && frame.getClassName().startsWith("org.draftmill.")
          && frame.getClassName().endsWith("." + simpleClass)) {
        return true;
      }
    }
    return false;
  }

  static Stream<Thread> threads(String prefix) {
    ThreadGroup group = Thread.currentThread().getThreadGroup();
    while (group.getParent() != null) {
      group = group.getParent();
    }
    Thread[] found = new Thread[group.activeCount() * 2 + 64];
    int count = group.enumerate(found);
    return Stream.of(found).limit(count).filter(thread -> thread.getName().startsWith(prefix));
  }

  // ---- metrics

  /** Whether the stages are there at all. */
  boolean isUp() {
    return step() >= 0 && thread("draftmill drafter ").isPresent();
  }

  /** How far the pool has come, 0 to 1; 0 while there is none. */
  double progress() {
    return Math.max(0, step()) / (double) shape.steps();
  }

  /** The first step that some subtask of the pool still has to release; −1 if there is none. */
  long step() {
    return WatchedMetrics.of(job, WatchedMetrics.POOL_STEP).stream()
        .mapToLong(metric -> (long) number(metric))
        .min()
        .orElse(-1);
  }

  long poolReady() {
    return (long) sum(WatchedMetrics.POOL_READY);
  }

  int minReady() {
    return shape.minReady();
  }

  /** Whether a metric is another than at the last call, and there was one then. */
  boolean hasMoved(String name) {
    double now = sum(name);
    Double before = last.put(name, now);
    return before != null && before > 0 && now > 0 && before != now;
  }

  long checkpointsInProgress() {
    return (long) sum(WatchedMetrics.CHECKPOINTS);
  }

  boolean isDraining() {
    return threadIn("pool ", "PoolOperator", "endInput").isPresent() && poolReady() > 0;
  }

  /** Whether the open step is one of the last two hundredths of an epoch. */
  boolean isAtEndOfEpoch() {
    long step = step();
    double ofEpoch = shape.steps() / (double) shape.epochs();
    double place = step / ofEpoch; // in epochs
    double last = Math.max(0.02, 1 / ofEpoch);
    return step >= 0 && (place >= shape.epochs() - last || (place % 1) >= 1 - last);
  }

  private double sum(String name) {
    return WatchedMetrics.of(job, name).stream().mapToDouble(LiveJob::number).sum();
  }

  private static double number(Metric metric) {
    try {
      return metric instanceof Counter counter
          ? counter.getCount()
          : ((Number) ((Gauge<?>) metric).getValue()).doubleValue();
    } catch (RuntimeException e) {
      return 0; // the maps below are those of a running task
    }
  }
}
