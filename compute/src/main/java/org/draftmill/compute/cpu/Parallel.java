package org.draftmill.compute.cpu;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * A fixed crew of threads that shares out the tasks of one loop at a time; the caller works with
 * them. With one thread there is no crew and nothing is handed over. Which thread takes which task
 * is left to chance: tasks must not depend on it, nor on each other.
 */
final class Parallel implements AutoCloseable {
  /** How often an idle thread looks for work before it sleeps: some tens of microseconds. */
  private static final int LOOKS = 1000;

  /** Multiplications (or the like) below which sharing costs more than it saves. */
  private static final long WORTH_SHARING = 400_000;

  /** One task of a loop. */
  interface Task {
    /**
     * @param task its number
     * @param worker the number of the thread, below {@link #threads()}: an index for scratch memory
     */
    void run(int task, int worker);
  }

  /** Consecutive rows, from the first to the one before the end. */
  interface Rows {
    void run(int from, int to, int worker);
  }

  /** Rows of a task of {@link #overRows}. */
  private static final int ROWS = 64;

  private final Thread[] crew;
  private volatile Loop current;
  private volatile boolean closed;

  Parallel(int threads, String name) {
    crew = new Thread[threads - 1];
    for (int i = 0; i < crew.length; i++) {
      int worker = i + 1;
      crew[i] = new Thread(() -> work(worker), name + "-" + worker);
      crew[i].setDaemon(true);
      crew[i].start();
    }
  }

  int threads() {
    return crew.length + 1;
  }

  /**
   * Runs the tasks {@code 0 … tasks − 1} and returns when all are done.
   *
   * @param cost multiplications of all tasks together, roughly: little work is not shared
   * @throws RuntimeException or {@link Error} what a task threw (the first that failed)
   */
  void run(int tasks, long cost, Task body) {
    if (closed) {
      throw new IllegalStateException("this backend is closed");
    }
    if (crew.length == 0 || tasks == 1 || cost < WORTH_SHARING) {
      for (int task = 0; task < tasks; task++) {
        body.run(task, 0);
      }
      return;
    }
    Loop loop = new Loop(tasks, body);
    current = loop;
    for (int i = 0; i < Math.min(crew.length, tasks - 1); i++) {
      LockSupport.unpark(crew[i]);
    }
    loop.takePart(0);
    loop.awaitEnd();
    current = null;
    loop.throwFailure();
  }

  /** {@link #run} over all rows, some at a time. */
  void overRows(int rows, long cost, Rows body) {
    int tasks = (rows + ROWS - 1) / ROWS;
    run(
        tasks,
        cost,
        (task, worker) -> body.run(task * ROWS, Math.min(rows, (task + 1) * ROWS), worker));
  }

  private void work(int worker) {
    Loop last = null;
    int looks = 0;
    while (!closed) {
      Loop loop = current;
      if (loop != null && loop != last) {
        loop.takePart(worker);
        last = loop;
        looks = 0;
      } else if (looks++ < LOOKS) {
        Thread.onSpinWait();
      } else {
        last = null;
        LockSupport.park(this);
        looks = 0;
      }
    }
  }

  @Override
  public void close() {
    closed = true;
    for (Thread thread : crew) {
      LockSupport.unpark(thread);
    }
  }

  private static final class Loop {
    private final int tasks;
    private final Task body;
    private final Thread caller = Thread.currentThread();
    private final AtomicInteger next = new AtomicInteger();
    private final AtomicInteger left;
    private volatile Throwable failure;

    Loop(int tasks, Task body) {
      this.tasks = tasks;
      this.body = body;
      this.left = new AtomicInteger(tasks);
    }

    void takePart(int worker) {
      int task = next.getAndIncrement();
      while (task < tasks) {
        try {
          if (failure == null) {
            body.run(task, worker);
          }
        } catch (Throwable thrown) {
          failure = thrown;
        }
        if (left.decrementAndGet() == 0) {
          LockSupport.unpark(caller);
        }
        task = next.getAndIncrement();
      }
    }

    void awaitEnd() {
      boolean interrupted = false;
      for (int looks = 0; left.get() > 0; looks++) {
        if (looks < LOOKS) {
          Thread.onSpinWait();
        } else {
          LockSupport.park(this);
          interrupted |= Thread.interrupted();
        }
      }
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }

    void throwFailure() {
      if (failure instanceof RuntimeException exception) {
        throw exception;
      }
      if (failure instanceof Error error) {
        throw error;
      }
    }
  }
}
