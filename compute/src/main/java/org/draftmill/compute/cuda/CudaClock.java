package org.draftmill.compute.cuda;

import static org.draftmill.compute.cuda.CudaFailure.check;

import java.util.ArrayDeque;
import java.util.Deque;
import jcuda.driver.CUevent;
import jcuda.driver.CUresult;
import jcuda.driver.JCudaDriver;
import org.draftmill.compute.ops.DeviceClock;

/**
 * Events before and after work on a stream. They are asked for their time once the stream has come
 * by, which is seen when the clock is next used; then they serve again.
 */
final class CudaClock implements DeviceClock, CudaBackend.Part {
  private static final double MILLISECONDS = 1e3;

  private record Interval(CUevent begin, CUevent end) {}

  private final CudaContext context;
  private final WorkStream stream;
  private final Deque<Interval> running = new ArrayDeque<>(); // stopped, first to last
  private final Deque<Interval> spare = new ArrayDeque<>();
  private Interval open; // started, or null
  private double seconds;
  private boolean closed;

  CudaClock(CudaContext context, WorkStream stream) {
    this.context = context;
    this.stream = stream;
  }

  @Override
  public synchronized void start() {
    if (closed) {
      throw new IllegalStateException("this clock is closed");
    }
    context.use();
    collect();
    if (open == null) {
      open = spare.isEmpty() ? interval() : spare.pop();
    }
    stream.mark(open.begin);
  }

  private Interval interval() {
    return new Interval(context.timedEvent(), context.timedEvent());
  }

  @Override
  public synchronized void stop() {
    if (open == null) {
      throw new IllegalStateException("a clock that does not run cannot be stopped");
    }
    context.use();
    stream.mark(open.end);
    running.add(open);
    open = null;
  }

  @Override
  public synchronized double seconds() {
    if (!closed && !running.isEmpty()) {
      context.use();
      collect();
    }
    return seconds;
  }

  /** Takes the times of intervals whose end the stream has passed. */
  private void collect() {
    float[] milliseconds = {0};
    while (!running.isEmpty()
        && JCudaDriver.cuEventQuery(running.peek().end) == CUresult.CUDA_SUCCESS) {
      Interval done = running.remove();
      check(
          JCudaDriver.cuEventElapsedTime(milliseconds, done.begin, done.end),
          "measuring work on the stream " + stream);
      seconds += milliseconds[0] / MILLISECONDS;
      spare.push(done);
    }
  }

  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    try {
      seconds(); // what is done by now still counts
    } finally {
      closed = true;
      release();
    }
  }

  /** Gives the events back, also those of a context in which everything fails. */
  private void release() {
    if (open != null) {
      spare.push(open);
    }
    spare.addAll(running);
    open = null;
    running.clear();
    for (Interval interval : spare) {
      JCudaDriver.cuEventDestroy(interval.begin);
      JCudaDriver.cuEventDestroy(interval.end);
    }
    spare.clear();
  }
}
