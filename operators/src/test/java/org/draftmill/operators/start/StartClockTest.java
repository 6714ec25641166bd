package org.draftmill.operators.start;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(600)
class StartClockTest {
  private final BlockingQueue<Throwable> failures = new LinkedBlockingQueue<>();

  @Test
  void saysWhereATaskStoodThatIsNotReadyInTime() throws Exception {
    try (StartClock clock =
        new StartClock(
            "Target (2/5)", Duration.ofMillis(200), Thread.currentThread(), failures::add)) {
      clock.at("loading models/big");
      clock.start();
      Throwable failure = failures.poll(5, TimeUnit.MINUTES);
      assertThat(failure)
          .hasMessageStartingWith(
              "Target (2/5) is not ready after 0 s, longer than run.start-timeout allows; it is"
                  + " loading models/big, in ");
      assertThat(failure.getCause().getStackTrace())
          .anyMatch(frame -> frame.getClassName().equals(StartClockTest.class.getName()));
    }
  }

  @Test
  void endsWithoutAWordWhenTheTaskIsReady() {
    StartClock clock =
        new StartClock("Pool (1/1)", Duration.ofHours(1), Thread.currentThread(), failures::add);
    clock.start();
    clock.close();
    Awaitility.await()
        .atMost(Duration.ofMinutes(5))
        .until(
            () ->
                Thread.getAllStackTraces().keySet().stream()
                    .noneMatch(thread -> thread.getName().equals("draftmill start of Pool (1/1)")));
    assertThat(failures).isEmpty();
  }
}
