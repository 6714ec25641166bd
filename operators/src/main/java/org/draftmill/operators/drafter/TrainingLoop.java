package org.draftmill.operators.drafter;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.draftmill.compute.drafter.Collective;
import org.draftmill.compute.drafter.MicrobatchFigures;
import org.draftmill.compute.drafter.StepFigures;
import org.draftmill.operators.restart.Restarts;
import org.draftmill.serializers.JobId;
import org.draftmill.serializers.StepMarker;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The thread that a drafter computes on. It takes microbatches and steps in the order in which they
 * are put in, which is the order of the stream, and never waits for anything else: so {@link
 * #drain} ends without anything from behind a checkpoint's barrier.
 */
final class TrainingLoop implements StepInbox.Receiver, AutoCloseable {
  /** Where the other drafters come from; may block until all have met. */
  interface Group {
    Collective join() throws IOException;
  }

  /** Told on the loop's thread. */
  interface Listener {
    /** Work on a microbatch begins: time to ask for the next one. */
    void started(ReceivedMicrobatch microbatch);

    void trained(MicrobatchFigures figures);

    /** From now on it computes; or it does not, and waits for microbatches or other drafters. */
    void computing(boolean now);

    void stepped(StepReport report);

    /** The loop has ended with this failure. */
    void failed(Throwable failure);
  }

  private static final Logger LOG = LoggerFactory.getLogger(TrainingLoop.class);
  private static final double NANOS = 1e9;
  private static final Duration LONGEST_CLOSE = Duration.ofSeconds(60);

  private final String name;
  private final Trainer trainer;
  private final Group group;
  private final Listener listener;
  private final Duration timeout;
  private final SkippedSteps skipped;
  private final Thread thread;
  private final Deque<Work> queue = new ArrayDeque<>();
  private boolean busy = true; // until all drafters have met
  private boolean closed;
  private boolean ended;
  private Runnable last; // when the thread ends, or null
  private Throwable failure;

  /** What the thread is at, for whoever finds it too long; null while it waits. */
  private String doing;

  private long doingSince;

  // Of the thread alone.
  private Collective collective;
  private double waitSeconds;
  private double forwardSeconds;
  private double backwardSeconds;
  private long lastStepEnd;

  /**
   * @param name of the drafter, for threads and messages
   * @param trainer used by the loop's thread; by others only after {@link #drain}
   * @param timeout the longest that a microbatch or an optimizer step may take
   * @param skipped told of each step that is skipped
   */
  TrainingLoop(
      String name,
      Trainer trainer,
      Group group,
      Listener listener,
      Duration timeout,
      SkippedSteps skipped) {
    this.name = name;
    this.trainer = trainer;
    this.group = group;
    this.listener = listener;
    this.timeout = timeout;
    this.skipped = skipped;
    thread = new Thread(this::run, "draftmill " + name);
    thread.setDaemon(true);
  }

  void start() {
    thread.start();
  }

  @Override
  public void train(ReceivedMicrobatch microbatch) {
    put(() -> accumulate(microbatch));
  }

  @Override
  public void step(long step, List<StepMarker> markers) {
    put(() -> reduce(step, markers));
  }

  /** Returns when everything that was put in is done; the loop then rests until more comes. */
  synchronized void drain() throws IOException, InterruptedException {
    while (failure == null && !closed && (busy || !queue.isEmpty())) {
      checkProgress();
      wait(Math.max(1, timeout.toMillis() / 4));
    }
    check();
  }

  /**
   * Throws what ended the loop, if it has ended. What only other options can help is not worth a
   * restart.
   */
  synchronized void check() throws IOException {
    if (Restarts.arePointless(failure)) {
      throw new SuppressRestartsException(failure);
    }
    if (failure instanceof SuppressRestartsException stopping) {
      throw stopping;
    }
    if (failure != null) {
      throw new IOException(name + " failed: " + failure.getMessage(), failure);
    }
  }

  /**
   * Throws if the thread has been at the same microbatch or step for longer than the timeout. Time
   * that it waits for others does not count: they have a clock of their own.
   */
  synchronized void checkProgress() throws IOException {
    if (doing == null) {
      return;
    }
    long nanos = System.nanoTime() - doingSince;
    if (nanos > timeout.toNanos()) {
      throw new IOException(
          "%s has been at %s for %.0f s, longer than drafter.timeout (%d s)."
              .formatted(name, doing, nanos / NANOS, timeout.toSeconds()));
    }
  }

  /** Microbatches and steps that are not done. */
  synchronized int pending() {
    return queue.size() + (busy ? 1 : 0);
  }

  /**
   * Ends the thread, whatever it is at, and waits for it. The collective must have been closed
   * before, for its sockets do not heed interrupts.
   *
   * @throws IOException if the thread does not end; what it uses must then not be freed before it
   *     does, see {@link #afterwards}
   */
  @Override
  public void close() throws IOException {
    close(LONGEST_CLOSE);
  }

  /**
   * @param patience how long to wait for the thread
   */
  void close(Duration patience) throws IOException {
    synchronized (this) {
      closed = true;
      queue.clear();
      notifyAll();
    }
    thread.interrupt();
    boolean interrupted = false;
    long deadline = System.nanoTime() + patience.toNanos();
    while (thread.isAlive() && System.nanoTime() < deadline) {
      try {
        thread.join(100);
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    if (thread.isAlive()) {
      throw new IOException(
          "%s did not stop within %d s; it is at %s. Its device is given back when it stops."
              .formatted(name, patience.toSeconds(), at()));
    }
  }

  /** Does something when the thread has ended: now, or on the thread as its last work. */
  void afterwards(Runnable work) {
    synchronized (this) {
      if (!ended && thread.isAlive()) {
        last = work;
        return;
      }
    }
    work.run();
  }

  private synchronized String at() {
    return doing == null ? "a wait" : doing;
  }

  private synchronized void put(Work work) {
    queue.add(work);
    notifyAll();
  }

  private void run() {
    try {
      collective = group.join();
      lastStepEnd = System.nanoTime();
      for (Work work = take(); work != null; work = take()) {
        work.run();
      }
    } catch (InterruptedException e) {
      // Nobody but close interrupts; if somebody does, the drafter must not just fall silent.
      fail(new IOException("Its computing thread was interrupted.", e));
    } catch (Throwable e) {
      fail(e);
    } finally {
      end();
    }
  }

  private void end() {
    Runnable work;
    synchronized (this) {
      ended = true;
      work = last;
    }
    if (work != null) {
      work.run();
    }
  }

  private void fail(Throwable e) {
    synchronized (this) {
      if (closed) {
        return;
      }
      failure = e;
      queue.clear();
      notifyAll();
    }
    listener.failed(e);
  }

  private synchronized Work take() throws InterruptedException {
    busy = false;
    doing(null);
    notifyAll();
    final long start = System.nanoTime();
    while (queue.isEmpty() && !closed) {
      wait();
    }
    waitSeconds += (System.nanoTime() - start) / NANOS;
    busy = !closed;
    return closed ? null : queue.poll();
  }

  private synchronized void doing(String what) {
    if ((what == null) != (doing == null)) {
      listener.computing(what != null);
    }
    doing = what;
    doingSince = System.nanoTime();
  }

  private void accumulate(ReceivedMicrobatch received) {
    JobId job = received.job();
    doing("the microbatch of " + job + " of step " + received.step());
    listener.started(received);
    MicrobatchFigures figures = trainer.accumulate(received.microbatch());
    if (figures.flagged()) {
      LOG.warn("{}: the loss or gradient of {} is not finite or too large.", name, job);
    }
    forwardSeconds += figures.forwardSeconds();
    backwardSeconds += figures.backwardSeconds();
    listener.trained(figures);
  }

  private void reduce(long step, List<StepMarker> markers) throws IOException {
    doing("step " + step);
    int released = 0;
    for (StepMarker marker : markers) {
      for (StepMarker.Release release : marker.releases()) {
        released++;
        if (release.tombstone() && collective.rank() == 0) {
          trainer.tombstone();
        }
      }
    }
    StepFigures figures = trainer.step(new WatchedCollective(collective, this::doing, step));
    if (figures.step() != step || figures.microbatches() + figures.tombstones() != released) {
      throw new IllegalStateException(
          "The pool released %d microbatches in step %d, but the drafters took %d and %d tombstones in step %d."
              .formatted(
                  released, step, figures.microbatches(), figures.tombstones(), figures.step()));
    }
    StageSeconds own =
        new StageSeconds(
            waitSeconds,
            forwardSeconds,
            backwardSeconds,
            figures.reduceSeconds(),
            figures.optimizerSeconds());
    doing(null);
    StageSeconds all = own.sum(collective);
    long now = System.nanoTime();
    listener.stepped(new StepReport(figures, markers, own, all, (now - lastStepEnd) / NANOS));
    lastStepEnd = now;
    if (figures.skipped()) {
      skipped.add(step, markers);
    }
    waitSeconds = 0;
    forwardSeconds = 0;
    backwardSeconds = 0;
  }

  /** A microbatch or a step. */
  private interface Work {
    void run() throws IOException;
  }
}
