package org.draftmill.job.train;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.draftmill.job.train.ProgressLine.State;
import org.junit.jupiter.api.Test;

class ProgressLineTest {
  @Test
  void showsWhatIsKnown() {
    State state = new State(404, 808, 4.312, 1.384, 8_930, 14, Duration.ofSeconds(151));

    assertThat(ProgressLine.bar(state))
        .isEqualTo(
            "████████████░░░░░░░░░░░░  step 404/808  50 %  loss 4.312  prefix 1.38  8.9K tokens/s  pool 14  ETA 2:31");
    assertThat(ProgressLine.plain(state))
        .isEqualTo("step 404/808, 50 %, loss 4.312, prefix 1.38, 8.9K tokens/s, pool 14, ETA 2:31");
  }

  @Test
  void leavesOutWhatIsNotKnownYet() {
    State state = new State(0, 808, Double.NaN, Double.NaN, Double.NaN, 3, null);

    assertThat(ProgressLine.plain(state)).isEqualTo("step 0/808, 0 %, pool 3");
  }
}
