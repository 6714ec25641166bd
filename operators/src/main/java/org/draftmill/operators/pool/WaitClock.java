package org.draftmill.operators.pool;

import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.draftmill.operators.pool.PoolShard.Waiting;

/** Adds up how long the pool waited for what. Written by one thread, read by any. */
final class WaitClock {
  private final LongSupplier nanoTime;
  private final Map<Waiting, AtomicLong> nanos = new EnumMap<>(Waiting.class);
  private volatile Since since;

  private record Since(Waiting waiting, long nanos) {}

  WaitClock(Waiting first, LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
    for (Waiting waiting : Waiting.values()) {
      nanos.put(waiting, new AtomicLong());
    }
    since = new Since(first, nanoTime.getAsLong());
  }

  /** From now on it waits for this. */
  void set(Waiting waiting) {
    if (waiting != since.waiting) {
      long now = nanoTime.getAsLong();
      nanos.get(since.waiting).addAndGet(now - since.nanos);
      since = new Since(waiting, now);
    }
  }

  /** What it waited for this, up to now. */
  double seconds(Waiting waiting) {
    Since current = since;
    long running = current.waiting == waiting ? nanoTime.getAsLong() - current.nanos : 0;
    return (nanos.get(waiting).get() + running) * 1e-9;
  }
}
