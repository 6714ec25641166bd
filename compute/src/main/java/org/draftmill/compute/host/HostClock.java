package org.draftmill.compute.host;

import java.util.concurrent.atomic.LongAdder;
import org.draftmill.compute.ops.DeviceClock;

/** Where work is done when a call returns: the time that passes. */
public final class HostClock implements DeviceClock {
  private static final double NANOS = 1e9;

  private final LongAdder nanos = new LongAdder();
  private long since;

  @Override
  public void start() {
    since = System.nanoTime();
  }

  @Override
  public void stop() {
    add(System.nanoTime() - since);
  }

  /** Adds what was measured otherwise; by any thread. */
  void add(long more) {
    nanos.add(more);
  }

  @Override
  public double seconds() {
    return nanos.sum() / NANOS;
  }

  @Override
  public void close() {
    // holds nothing
  }
}
