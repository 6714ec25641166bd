package org.draftmill.compute.ops;

/**
 * Adds up the time that a device spends on one kind of work: that which its backend was given
 * between {@link #start} and {@link #stop}. It never waits for the device. The thread that uses the
 * backend starts and stops it; any thread may read it, also when it is closed.
 */
public interface DeviceClock extends AutoCloseable {
  /** Work counts from here on. Once more without a stop: from here on instead. */
  void start();

  /** Work counts up to here. */
  void stop();

  /** Seconds of the work that is done; what is not yet is in a later answer. */
  double seconds();

  @Override
  void close();
}
