package org.draftmill.operators.start;

import java.io.Closeable;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.streaming.runtime.tasks.StreamTask;
import org.apache.flink.util.FlinkRuntimeException;

/**
 * Fails a task that does not get ready in time: a model on a file system that does not answer, a
 * device that hangs, a state that cannot be fetched. While a task starts nobody else looks at it,
 * and all other stages would wait for it for ever.
 *
 * <p>Its thread ends when the task is ready, or has failed.
 */
public final class StartClock implements Closeable {

  public static final ConfigOption<Duration> TIMEOUT =
      ConfigOptions.key("run.start-timeout")
          .durationType()
          .defaultValue(Duration.ofMinutes(20))
          .withDescription(
              "The longest that a target, a subtask of the pool or a drafter may take to get ready"
                  + " (to fetch its state, to load its model), and that drafters wait for each"
                  + " other. What is not ready then fails with a message that says where it stood,"
                  + " and the run restarts. Longer for models that are loaded for longer.");

  private final String name;
  private final Duration timeout;
  private final Thread starting;
  private final Consumer<Throwable> fail;
  private String at;
  private boolean closed;

  /**
   * @param name of the subtask, as a sentence begins
   * @param starting the thread that gets ready
   * @param fail told when it is too late
   */
  StartClock(String name, Duration timeout, Thread starting, Consumer<Throwable> fail) {
    this.name = name;
    this.timeout = timeout;
    this.starting = starting;
    this.fail = fail;
    at = "restoring its state";
  }

  /** From now on the time runs. */
  void start() {
    Thread thread = new Thread(this::watch, "draftmill start of " + name);
    thread.setDaemon(true);
    thread.start();
  }

  /** Begins with the task, whose thread calls this; ends with {@link #close}, or with the task. */
  public static StartClock of(StreamTask<?, ?> task, String name, Duration timeout) {
    StartClock clock =
        new StartClock(
            name, timeout, Thread.currentThread(), task.getEnvironment()::failExternally);
    try {
      task.getCancelables().registerCloseable(clock);
    } catch (IOException e) {
      throw new FlinkRuntimeException("The task ends while it starts", e); // and has closed it
    }
    clock.start();
    return clock;
  }

  /** What the task does now, as in: it has been … */
  public synchronized void at(String what) {
    at = what;
  }

  /** The task is ready, or has failed. */
  @Override
  public synchronized void close() {
    closed = true;
    notifyAll();
  }

  private void watch() {
    String where;
    synchronized (this) {
      long end = System.nanoTime() + timeout.toNanos();
      for (long left = timeout.toNanos(); !closed && left > 0; left = end - System.nanoTime()) {
        try {
          TimeUnit.NANOSECONDS.timedWait(this, left);
        } catch (InterruptedException e) {
          return; // nobody interrupts it
        }
      }
      if (closed) {
        return;
      }
      where = at;
    }
    IOException stack = new IOException("There its thread stood");
    stack.setStackTrace(starting.getStackTrace());
    fail.accept(
        new IOException(
            "%s is not ready after %d s, longer than %s allows; it is %s, in %s."
                .formatted(name, timeout.toSeconds(), TIMEOUT.key(), where, deepest(stack)),
            stack));
  }

  private static String deepest(Throwable stack) {
    StackTraceElement[] frames = stack.getStackTrace();
    return frames.length == 0
        ? "no method"
        : frames[0].getClassName() + "." + frames[0].getMethodName();
  }
}
