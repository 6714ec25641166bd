package org.draftmill.job.console;

import java.io.IOException;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Looks at something again and again on a thread of its own, until it is closed. */
public final class Poller implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Poller.class);
  private static final Duration PAUSE = Duration.ofMillis(250);

  /** One look; what it cannot see just now it may throw, and anything else is logged. */
  @FunctionalInterface
  public interface Look {
    void look() throws IOException, InterruptedException;
  }

  private final Look look;
  private final Thread thread;

  public Poller(String name, Look look) {
    this.look = look;
    thread = new Thread(this::run, name);
    thread.setDaemon(true);
    thread.start();
  }

  private void run() {
    try {
      while (true) {
        try {
          look.look();
        } catch (IOException e) {
          LOG.debug("There is nothing to see just now", e);
        } catch (RuntimeException e) {
          LOG.warn(
              "A look of {} failed; the next one may not", Thread.currentThread().getName(), e);
        }
        Thread.sleep(PAUSE.toMillis());
      }
    } catch (InterruptedException e) {
      // closed
    }
  }

  @Override
  public void close() {
    thread.interrupt();
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
