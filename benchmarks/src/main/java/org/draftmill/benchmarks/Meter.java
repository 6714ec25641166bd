package org.draftmill.benchmarks;

import java.io.Serializable;
import java.util.function.ToLongFunction;
import org.apache.flink.api.common.JobExecutionResult;
import org.apache.flink.api.common.accumulators.LongCounter;
import org.apache.flink.api.common.accumulators.LongMaximum;
import org.apache.flink.api.common.accumulators.LongMinimum;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RichFlatMapFunction;
import org.apache.flink.util.Collector;

/**
 * The end of a stream, which adds up what arrives. The time runs from the first record to the last
 * of all subtasks, so the start of the job is not in it; nor is the first record of each subtask.
 */
final class Meter<T> extends RichFlatMapFunction<T, Void> {
  private static final long serialVersionUID = 1L;

  /** How much a record counts. */
  interface Amount<T> extends ToLongFunction<T>, Serializable {}

  private static final String FIRST = "first nanos";
  private static final String LAST = "last nanos";
  private static final String TOTAL = "total";

  private final Amount<T> amount;
  private final LongMinimum first = new LongMinimum();
  private final LongMaximum last = new LongMaximum();
  private final LongCounter total = new LongCounter();
  private boolean started;

  Meter(Amount<T> amount) {
    this.amount = amount;
  }

  /** Amount a second, in the job that has ended. */
  static double perSecond(JobExecutionResult job) {
    long nanos = job.<Long>getAccumulatorResult(LAST) - job.<Long>getAccumulatorResult(FIRST);
    return job.<Long>getAccumulatorResult(TOTAL) * 1e9 / nanos;
  }

  @Override
  public void open(OpenContext context) {
    getRuntimeContext().addAccumulator(FIRST, first);
    getRuntimeContext().addAccumulator(LAST, last);
    getRuntimeContext().addAccumulator(TOTAL, total);
  }

  @Override
  public void flatMap(T value, Collector<Void> out) {
    long now = System.nanoTime();
    if (started) {
      total.add(amount.applyAsLong(value));
    } else {
      started = true;
      first.add(now);
    }
    last.add(now);
  }
}
