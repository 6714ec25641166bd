package org.draftmill.job.console;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class InterruptsTest {
  @Test
  void closingPutsBackWhatHandledTheSignalBefore() throws Exception {
    AtomicInteger outer = new AtomicInteger();
    AtomicInteger inner = new AtomicInteger();
    Interrupts before = Interrupts.handle(outer::incrementAndGet, () -> {});
    try {
      Interrupts.handle(inner::incrementAndGet, () -> {}).close();

      terminate();

      await().atMost(5, TimeUnit.MINUTES).until(() -> outer.get() == 1);
      assertThat(inner).hasValue(0);
    } finally {
      before.close();
    }
  }

  /** SIGTERM to this process. */
  private static void terminate() throws Exception {
    new ProcessBuilder("kill", "-TERM", Long.toString(ProcessHandle.current().pid()))
        .start()
        .waitFor();
  }
}
