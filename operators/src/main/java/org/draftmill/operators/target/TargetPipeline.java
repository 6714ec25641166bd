package org.draftmill.operators.target;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.draftmill.compute.InputException;
import org.draftmill.operators.jobs.ExtractionJob;
import org.draftmill.operators.target.PipelineActivity.Part;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The way of a job through a target: prepared, run, packed, each on a thread of its own, so the
 * three overlap for different jobs. Jobs come out in the order in which they went in.
 */
final class TargetPipeline implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(TargetPipeline.class);

  /** Jobs that may be inside: one for each thread. */
  static final int DEPTH = 3;

  /** How long {@link #close} waits for a thread that does not heed its interruption. */
  private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(30);

  /** Is told from the pipeline's threads what happens. */
  interface Listener {
    void done(JobResult result);

    /** The pipeline has stopped; called for the first failure, maybe for others it entails. */
    void failed(Throwable failure);
  }

  /** A batch on its way from the forward pass to packing; without states it is given up. */
  private record Extracted(PackedBatch batch, HiddenStates states, int attempts, String reason)
      implements AutoCloseable {
    @Override
    public void close() {
      if (states != null) {
        states.close();
      }
    }
  }

  private final HiddenStateExtractor extractor;
  private final ChunkPacker packer;
  private final int retries;
  private final PipelineActivity activity;
  private final Listener listener;

  private final BlockingQueue<ExtractionJob> jobs = new ArrayBlockingQueue<>(DEPTH);
  private final BlockingQueue<PackedBatch> prepared = new ArrayBlockingQueue<>(DEPTH);
  private final BlockingQueue<Extracted> extracted = new ArrayBlockingQueue<>(DEPTH);
  private final List<Thread> threads;
  private final AtomicInteger users; // of the extractor: the threads, and who will close this
  private volatile boolean closed;

  /**
   * Starts the threads.
   *
   * @param extractor owned from here on: closed once {@link #close} was called and no thread works
   *     with it any more
   * @param retries how often a forward pass is tried again
   * @param name of the subtask, for the threads
   */
  TargetPipeline(
      HiddenStateExtractor extractor,
      ChunkPacker packer,
      int retries,
      PipelineActivity activity,
      Listener listener,
      String name) {
    this.extractor = extractor;
    this.packer = packer;
    this.retries = retries;
    this.activity = activity;
    this.listener = listener;
    this.threads =
        List.of(
            thread("target-prepare " + name, this::prepareNext),
            thread("target-forward " + name, this::forwardNext),
            thread("target-pack " + name, this::packNext));
    this.users = new AtomicInteger(threads.size() + 1);
    threads.forEach(Thread::start);
  }

  /**
   * Takes a job in.
   *
   * @throws IllegalStateException if {@value #DEPTH} are inside
   */
  void submit(ExtractionJob job) {
    jobs.add(job);
  }

  @FunctionalInterface
  private interface Step {
    void run() throws Exception;
  }

  private Thread thread(String name, Step step) {
    Thread thread =
        new Thread(
            () -> {
              try {
                while (!closed) {
                  step.run();
                }
              } catch (Throwable e) {
                if (!closed) {
                  listener.failed(e);
                }
              } finally {
                leave();
              }
            },
            name);
    thread.setDaemon(true);
    return thread;
  }

  private void prepareNext() throws Exception {
    ExtractionJob job = jobs.take();
    activity.begin(Part.PREPARE, job);
    PackedBatch batch = extractor.prepare(job);
    activity.end(Part.PREPARE);
    prepared.put(batch);
  }

  private void forwardNext() throws InterruptedException {
    PackedBatch batch = prepared.take();
    activity.begin(Part.FORWARD, batch.job());
    Extracted result = forward(batch);
    activity.end(Part.FORWARD);
    try {
      extracted.put(result);
    } catch (InterruptedException e) {
      result.close();
      throw e;
    }
  }

  private Extracted forward(PackedBatch batch) throws InterruptedException {
    int attempts = 0;
    while (true) {
      attempts++;
      String reason;
      try {
        HiddenStates states = extractor.forward(batch);
        if (states.allFinite()) {
          return new Extracted(batch, states, attempts, null);
        }
        states.close();
        reason = "The target's hidden states are not finite.";
      } catch (InputException e) {
        throw e;
      } catch (RuntimeException e) {
        LOG.warn("The forward pass of {} failed in attempt {}.", batch.job(), attempts, e);
        reason = "The target's forward pass failed: " + e;
      }
      if (Thread.interrupted() || closed) {
        throw new InterruptedException();
      }
      if (attempts > retries) {
        return new Extracted(batch, null, attempts, reason);
      }
    }
  }

  private void packNext() throws InterruptedException {
    Extracted next = extracted.take();
    activity.begin(Part.PACK, next.batch().job());
    JobResult result = pack(next);
    activity.end(Part.PACK);
    if (!closed) { // a thread may take one more that comes between its interruption and its waking
      listener.done(result);
    }
  }

  private JobResult pack(Extracted next) {
    PackedBatch batch = next.batch();
    if (next.states() == null) {
      return JobResult.dead(batch, next.attempts(), next.reason());
    }
    try (HiddenStates states = next.states()) {
      return packer
          .pack(batch, states)
          .map(chunks -> JobResult.of(batch.job(), chunks))
          .orElseGet(
              () ->
                  JobResult.dead(
                      batch,
                      next.attempts(),
                      "Hidden states are too large for float16; set %s to bfloat16."
                          .formatted(TargetOptions.HIDDEN_DTYPE.key())));
    }
  }

  /**
   * Stops the threads, waits for them, and closes the extractor. A thread that does not heed its
   * interruption is left to close it when it ends at last: what it computes with must not be freed
   * under it. Twice is harmless.
   */
  @Override
  public void close() {
    close(CLOSE_TIMEOUT);
  }

  /**
   * @param patience how long to wait for the threads
   */
  void close(Duration patience) {
    if (closed) {
      return;
    }
    closed = true;
    threads.forEach(Thread::interrupt);
    join(patience);
    leave();
  }

  /** The last one out closes what all have used. */
  private void leave() {
    if (users.decrementAndGet() == 0) {
      for (Extracted left; (left = extracted.poll()) != null; ) {
        left.close();
      }
      extractor.close();
    }
  }

  /** Waits for all threads, though interrupted, but not for one that hangs. */
  private void join(Duration patience) {
    long deadline = System.nanoTime() + patience.toNanos();
    boolean interrupted = false;
    for (Thread thread : threads) {
      long left = deadline - System.nanoTime();
      while (thread.isAlive() && left > 0) {
        try {
          thread.join(Math.max(1, left / 1_000_000));
        } catch (InterruptedException e) {
          interrupted = true;
        }
        left = deadline - System.nanoTime();
      }
      if (thread.isAlive()) {
        LOG.error(
            "{} does not end within {} s; the model and its device are given back when it does.",
            thread.getName(),
            patience.toSeconds());
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
