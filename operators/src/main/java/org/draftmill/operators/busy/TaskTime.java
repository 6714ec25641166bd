package org.draftmill.operators.busy;

import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.runtime.metrics.TimerGauge;
import org.apache.flink.runtime.metrics.groups.TaskIOMetricGroup;
import org.apache.flink.util.function.ThrowingRunnable;

/**
 * Makes busy, idle and back-pressured time, as Flink shows them of a task, those of the threads
 * that do its work.
 *
 * <p>Flink times the task's own thread. It is idle while the thread waits for input, back-pressured
 * while it waits for room in the output, and busy for the rest. A target or a drafter computes on
 * threads of its own, so its task would seem idle while the device is at work. Here Flink's timers
 * stand still as long as somebody {@linkplain #working works}, which leaves that time to busy, and
 * go on afterwards if the task's thread still waits.
 *
 * <p>A timer that was stopped does not tell when Flink would have stopped it. So it is never
 * started again from here while the thread rests: an empty mail makes Flink do that, which stops
 * the timers for each mail and starts them anew.
 */
public final class TaskTime {
  private final TimerGauge outputBlocked;
  private final List<Held> timers;
  private final MailboxExecutor mailbox;
  private boolean started; // of the task's thread
  private volatile boolean working;
  private boolean emitting; // guarded by outputBlocked

  /**
   * @param mailbox of the task
   */
  public TaskTime(TaskIOMetricGroup task, MailboxExecutor mailbox) {
    this.mailbox = mailbox;
    outputBlocked = task.getHardBackPressuredTimePerSecond();
    timers =
        List.of(
            new Held(task.getIdleTimeMsPerSecond()),
            new Held(task.getSoftBackPressuredTimePerSecond()),
            new Held(outputBlocked));
  }

  /**
   * Begins to hold the timers. Must come after all that listens to them already, for they hear of a
   * start that is taken back at once: after the source of the chain was opened and has got its
   * first split, so when the first record is here. Twice is harmless.
   */
  public void start() {
    if (!started) {
      started = true;
      timers.forEach(Held::register);
    }
  }

  /** Says whether somebody works from now on; thread-safe. */
  public void working(boolean now) {
    working = now;
    if (now) {
      timers.forEach(Held::stop);
      return;
    }
    boolean held = false;
    for (Held timer : timers) {
      held |= timer.release();
    }
    synchronized (outputBlocked) {
      if (emitting) {
        outputBlocked.markStart();
        return;
      }
    }
    if (held) {
      wake();
    }
  }

  /**
   * Runs what emits records, on the task's thread. While it lasts and nobody works, the task counts
   * as back-pressured.
   */
  public <E extends Exception> void emit(ThrowingRunnable<E> emission) throws E {
    synchronized (outputBlocked) {
      emitting = true;
    }
    try {
      emission.run();
    } finally {
      synchronized (outputBlocked) {
        emitting = false;
        outputBlocked.markEnd();
      }
    }
  }

  private void wake() {
    try {
      mailbox.execute(() -> {}, "nobody works");
    } catch (RejectedExecutionException e) {
      // the task has ended
    }
  }

  /** A timer of Flink's that stands while somebody works. Flink calls it under the timer's lock. */
  private final class Held implements TimerGauge.StartStopListener {
    private final TimerGauge timer;
    private boolean held; // stopped, or not let start; guarded by timer

    Held(TimerGauge timer) {
      this.timer = timer;
    }

    void register() {
      timer.registerListener(this);
    }

    void stop() {
      synchronized (timer) {
        held |= timer.isMeasuring();
        timer.markEnd();
      }
    }

    /** True if Flink may believe that the timer runs. */
    boolean release() {
      synchronized (timer) {
        boolean was = held;
        held = false;
        return was;
      }
    }

    @Override
    public void markStart() {
      if (working) {
        held = true;
        timer.markEnd();
      }
    }

    @Override
    public void markEnd() {}
  }
}
