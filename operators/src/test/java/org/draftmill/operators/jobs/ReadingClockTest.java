package org.draftmill.operators.jobs;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.core.fs.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReadingClockTest {
  private final AtomicLong nanos = new AtomicLong();
  private final ReadingClock clock = new ReadingClock(Duration.ofSeconds(10), nanos::get);

  private void pass(Duration time) {
    nanos.addAndGet(time.toNanos());
  }

  @Test
  void readingThatLastsTooLongIsNamed() {
    clock.start();
    pass(Duration.ofSeconds(10));
    assertThatCode(() -> clock.check("plan.json", 7)).doesNotThrowAnyException();
    pass(Duration.ofSeconds(1));
    assertThatThrownBy(() -> clock.check("plan.json", 7))
        .hasMessageContaining("The stage jobs hangs")
        .hasMessageContaining("plan.json, from job 7 on, has lasted 11 s")
        .hasMessageContaining("jobs.timeout (10 s)");
  }

  @Test
  void whatIsReadIsForgotten() {
    clock.start();
    pass(Duration.ofHours(1));
    clock.stop();
    assertThatCode(() -> clock.check("plan.json", 7)).doesNotThrowAnyException();
    clock.start();
    assertThatCode(() -> clock.check("plan.json", 7)).doesNotThrowAnyException();
  }

  /** The asynchronous reading of this context does not begin before it is told to. */
  @Test
  void theEnumeratorLooksWheneverACheckpointCompletes(@TempDir java.nio.file.Path dir) {
    JobEnumerator enumerator =
        new JobEnumerator(
            new TestingEnumeratorContext(1),
            new FlinkByteSources(new Path(dir.toUri())),
            Long.MAX_VALUE,
            JobsState.START,
            new JobsMetrics(),
            clock);
    enumerator.start();
    enumerator.notifyCheckpointComplete(1);
    pass(Duration.ofSeconds(11));
    assertThatThrownBy(() -> enumerator.notifyCheckpointComplete(2))
        .hasMessageContaining("plan.json, from job 0 on");
  }
}
