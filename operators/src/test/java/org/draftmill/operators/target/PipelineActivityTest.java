package org.draftmill.operators.target;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.draftmill.operators.jobs.ExtractionJob;
import org.draftmill.operators.target.PipelineActivity.Part;
import org.junit.jupiter.api.Test;

class PipelineActivityTest {
  private static final long SECOND = 1_000_000_000L;
  private static final ExtractionJob ONE = TestingExtractor.job(1, 8);
  private static final ExtractionJob TWO = TestingExtractor.job(2, 8);

  private final AtomicLong now = new AtomicLong();
  private final List<Boolean> working = new ArrayList<>();
  private final PipelineActivity activity = new PipelineActivity(now::get, working::add);

  private void pass(long seconds) {
    now.addAndGet(seconds * SECOND);
  }

  @Test
  void partsAreCountedEachAndTogether() {
    activity.begin(Part.PREPARE, ONE);
    pass(2);
    activity.end(Part.PREPARE);
    pass(10);
    activity.begin(Part.FORWARD, ONE);
    pass(3);
    activity.begin(Part.PREPARE, TWO);
    pass(1);

    assertThat(activity.seconds(Part.PREPARE)).isEqualTo(3);
    assertThat(activity.seconds(Part.FORWARD)).isEqualTo(4);
    assertThat(activity.seconds(Part.PACK)).isZero();
    assertThat(activity.busySeconds()).isEqualTo(6);

    activity.end(Part.PREPARE);
    activity.end(Part.FORWARD);
    pass(100);
    assertThat(activity.busySeconds()).isEqualTo(6);
    assertThat(working)
        .as("told when it begins and ends")
        .containsExactly(true, false, true, false);
  }

  @Test
  void theLongestWorkAtHandIsKnown() {
    assertThat(activity.longest()).isEmpty();
    activity.begin(Part.FORWARD, ONE);
    pass(5);
    activity.begin(Part.PREPARE, TWO);
    pass(1);

    assertThat(activity.longest())
        .contains(new PipelineActivity.Running(Part.FORWARD, ONE, 6 * SECOND));
    activity.end(Part.FORWARD);
    assertThat(activity.longest())
        .contains(new PipelineActivity.Running(Part.PREPARE, TWO, SECOND));
  }
}
