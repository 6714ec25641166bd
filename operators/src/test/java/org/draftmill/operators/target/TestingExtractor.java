package org.draftmill.operators.target;

import java.nio.ByteBuffer;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.draftmill.operators.jobs.ExtractionJob;
import org.draftmill.serializers.HiddenDType;

/**
 * States that say where they belong: every tap of a row is its token, every final state minus that.
 * A test can hold, fail or spoil each part of each job.
 */
final class TestingExtractor implements HiddenStateExtractor {
  static final int TAP_COLUMNS = 6;
  static final int FINAL_COLUMNS = 2;

  /** Runs on the thread of a part. */
  interface Hook {
    void run(ExtractionJob job) throws InterruptedException;
  }

  volatile Hook onPrepare = job -> {};
  volatile Hook onForward = job -> {};
  volatile Hook onEncode = job -> {};
  final Set<Long> notFinite = ConcurrentHashMap.newKeySet();
  final Map<Long, Integer> forwards = new ConcurrentHashMap<>();
  final AtomicInteger open = new AtomicInteger(); // states that are out
  volatile Runnable onClose = () -> {};
  volatile boolean closed;

  static ExtractionJob job(long position, int... lengths) {
    long[] ids = new long[lengths.length];
    int tokens = 0;
    for (int d = 0; d < lengths.length; d++) {
      ids[d] = 1000 * position + d;
      tokens += lengths[d];
    }
    return new ExtractionJob(position, 0, (int) position, 1, ids, tokens);
  }

  /** The batch that {@link #prepare} makes: documents of equal length, the last takes the rest. */
  static PackedBatch batch(ExtractionJob job) {
    int documents = job.sequenceIds().length;
    int[] starts = new int[documents + 1];
    for (int d = 0; d < documents; d++) {
      starts[d] = d * (job.tokens() / documents);
    }
    starts[documents] = job.tokens();
    int[] ids = new int[job.tokens()];
    byte[] mask = new byte[job.tokens()];
    for (int row = 0; row < ids.length; row++) {
      ids[row] = (int) (100 * job.position() + row);
      mask[row] = (byte) (row % 2);
    }
    return new PackedBatch(job, ids, mask, starts);
  }

  @Override
  public PackedBatch prepare(ExtractionJob job) {
    run(onPrepare, job);
    return batch(job);
  }

  @Override
  public HiddenStates forward(PackedBatch batch) throws InterruptedException {
    forwards.merge(batch.job().position(), 1, Integer::sum);
    onForward.run(batch.job());
    open.incrementAndGet();
    return new States(batch);
  }

  private static void run(Hook hook, ExtractionJob job) {
    try {
      hook.run(job);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }

  @Override
  public DeviceSeconds deviceSeconds() {
    return new DeviceSeconds(forwards.size(), 0);
  }

  @Override
  public void close() {
    onClose.run();
    closed = true;
  }

  private final class States implements HiddenStates {
    private final PackedBatch batch;

    States(PackedBatch batch) {
      this.batch = batch;
    }

    @Override
    public boolean allFinite() {
      return !notFinite.contains(batch.job().position());
    }

    @Override
    public int tapColumns() {
      return TAP_COLUMNS;
    }

    @Override
    public int finalColumns() {
      return FINAL_COLUMNS;
    }

    @Override
    public void encodeTaps(int from, int to, HiddenDType dtype, ByteBuffer destination) {
      run(onEncode, batch.job());
      put(from, to, TAP_COLUMNS, 1, destination);
    }

    @Override
    public void encodeFinal(int from, int to, HiddenDType dtype, ByteBuffer destination) {
      put(from, to, FINAL_COLUMNS, -1, destination);
    }

    private void put(int from, int to, int columns, int sign, ByteBuffer destination) {
      for (int row = from; row < to; row++) {
        for (int column = 0; column < columns; column++) {
          destination.putFloat(sign * batch.inputIds()[row]);
        }
      }
    }

    @Override
    public void close() {
      open.decrementAndGet();
    }
  }
}
