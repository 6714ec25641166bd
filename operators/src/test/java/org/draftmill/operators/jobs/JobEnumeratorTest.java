package org.draftmill.operators.jobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.LongStream;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.util.FlinkRuntimeException;
import org.draftmill.corpus.InputException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JobEnumeratorTest {
  private static final int JOBS = 400; // an epoch, more than are read at once
  private static final int EPOCHS = 3;

  @TempDir Path directory;
  private String plan;
  private final TestingEnumeratorContext context = new TestingEnumeratorContext(3);

  @BeforeEach
  void writePlan() throws IOException {
    plan = TestingPlans.write(directory.resolve("plan"), JOBS, EPOCHS);
  }

  private JobEnumerator start(TestingEnumeratorContext context, JobsState state) {
    JobEnumerator enumerator =
        (JobEnumerator) new JobSource(plan).restoreEnumerator(context, state);
    enumerator.start();
    return enumerator;
  }

  private static void ask(JobEnumerator enumerator, TestingEnumeratorContext context, int subtask) {
    enumerator.handleSplitRequest(subtask, "localhost");
    context.runCalls();
  }

  private static List<Long> positions(long from, long to) {
    return LongStream.range(from, to).boxed().toList();
  }

  @Test
  void handsOutAllEpochsInListOrderToWhoeverAsks() throws IOException {
    JobEnumerator enumerator = start(context, JobsState.START);
    int asked = 0;
    while (context.finished.isEmpty()) {
      ask(enumerator, context, asked++ % 7 == 0 ? 0 : 2);
    }

    assertThat(context.order).isEqualTo(positions(0, JOBS * EPOCHS));
    assertThat(context.assigned.keySet()).containsExactly(0, 2);
    assertThat(context.assigned.get(2).size()).isGreaterThan(5 * context.assigned.get(0).size());
    for (ExtractionJob job : context.jobs) {
      assertThat(job.epoch()).isEqualTo((int) (job.position() / JOBS));
      assertThat(job.index()).isEqualTo((int) (job.position() % JOBS));
      assertThat(job.sequenceIds()).hasSize(1);
    }
    enumerator.close();
  }

  @Test
  void everySequenceComesOnceAnEpoch() throws IOException {
    JobEnumerator enumerator = start(context, JobsState.START);
    for (int i = 0; i < JOBS; i++) {
      ask(enumerator, context, 0);
    }

    assertThat(context.jobs.stream().map(job -> job.sequenceIds()[0]).sorted().toList())
        .isEqualTo(positions(0, JOBS));
    enumerator.close();
  }

  @Test
  void aReaderThatAsksEarlyIsServedWhenTheListIsRead() {
    JobEnumerator enumerator = start(context, JobsState.START);
    enumerator.handleSplitRequest(2, "localhost");
    enumerator.handleSplitRequest(1, "localhost");
    assertThat(context.order).isEmpty();

    context.runCalls();

    assertThat(context.assigned.get(2)).containsExactly(0L);
    assertThat(context.assigned.get(1)).containsExactly(1L);
  }

  @Test
  void returnedJobsComeFirstLowestPositionFirst() {
    JobEnumerator enumerator = start(context, JobsState.START);
    for (int i = 0; i < 6; i++) {
      ask(enumerator, context, i % 3);
    }
    enumerator.addSplitsBack(List.of(context.jobs.get(4)), 1);
    enumerator.addSplitsBack(List.of(context.jobs.get(5), context.jobs.get(2)), 2);
    for (int i = 0; i < 4; i++) {
      ask(enumerator, context, 0);
    }

    assertThat(context.order.subList(6, 10)).containsExactly(2L, 4L, 5L, 6L);
  }

  @Test
  void aReturnedJobIsServedToAReaderThatWaits() {
    JobEnumerator enumerator = start(context, new JobsState(JOBS * EPOCHS - 1, List.of()));
    ask(enumerator, context, 0);
    enumerator.addSplitsBack(context.jobs.subList(0, 1), 0);
    ask(enumerator, context, 1);

    assertThat(context.assigned.get(1)).containsExactly(JOBS * EPOCHS - 1L);
    ask(enumerator, context, 2);
    assertThat(context.finished).containsExactly(2);
  }

  @Test
  void goesOnFromItsState() throws IOException {
    JobEnumerator first = start(context, JobsState.START);
    for (int i = 0; i < JOBS + 7; i++) {
      ask(first, context, i % 3);
    }
    first.addSplitsBack(List.of(context.jobs.get(300), context.jobs.get(5)), 1);
    byte[] bytes = new JobsStateSerializer().serialize(first.snapshotState(1));
    first.close();

    TestingEnumeratorContext after = new TestingEnumeratorContext(5);
    JobEnumerator second = start(after, new JobsStateSerializer().deserialize(1, bytes));
    for (int i = 0; after.finished.isEmpty(); i++) {
      ask(second, after, i % 5);
    }

    assertThat(after.order.subList(0, 2)).containsExactly(5L, 300L);
    assertThat(after.order.subList(2, after.order.size()))
        .isEqualTo(positions(JOBS + 7, JOBS * EPOCHS));
    second.close();
  }

  @Test
  void theRemainingJobsAreAMetric() {
    JobEnumerator enumerator = start(context, new JobsState(3, List.of()));
    Gauge<Long> remaining =
        context
            .metrics
            .<Long>getGauge("enumerator", "draftmill", "jobs", "jobsRemaining")
            .orElseThrow();
    ask(enumerator, context, 0);
    assertThat(remaining.getValue()).isEqualTo(JOBS * EPOCHS - 4L);

    enumerator.addSplitsBack(context.jobs, 0);
    assertThat(remaining.getValue()).isEqualTo(JOBS * EPOCHS - 3L);
  }

  @Test
  void theMetricGoesOnWithTheEnumeratorOfARestart() {
    JobSource source = new JobSource(plan);
    source.restoreEnumerator(context, JobsState.START).start();
    Gauge<Long> remaining =
        context
            .metrics
            .<Long>getGauge("enumerator", "draftmill", "jobs", "jobsRemaining")
            .orElseThrow();
    JobEnumerator restored =
        (JobEnumerator) source.restoreEnumerator(context, new JobsState(7, List.of()));
    restored.start();
    ask(restored, context, 0);

    assertThat(remaining.getValue()).isEqualTo(JOBS * EPOCHS - 8L);
  }

  @Test
  void aReaderThatLeftWhileWaitingGetsNothing() {
    JobEnumerator enumerator = start(context, JobsState.START);
    enumerator.handleSplitRequest(1, "localhost");
    enumerator.handleSplitRequest(0, "localhost");
    context.leave(1);
    context.runCalls();

    assertThat(context.assigned).containsOnlyKeys(0);
    assertThat(context.order).containsExactly(0L);
  }

  @Test
  void aMissingListFailsTheRunByName() throws IOException {
    Files.delete(directory.resolve("plan/epoch-0001.jobs"));
    JobEnumerator enumerator = start(context, new JobsState(JOBS - 1, List.of()));

    assertThatThrownBy(() -> ask(enumerator, context, 0))
        .isInstanceOf(FlinkRuntimeException.class)
        .hasStackTraceContaining("epoch-0001.jobs");
  }

  @Test
  void aPlanThatIsTooShortForTheCheckpointIsRefused() {
    JobEnumerator enumerator = start(context, new JobsState(JOBS * EPOCHS + 1, List.of()));

    assertThatThrownBy(() -> ask(enumerator, context, 0))
        .hasRootCauseInstanceOf(InputException.class)
        .rootCause()
        .hasMessageContaining("stands at job 1201")
        .hasMessageContaining("has 1200 jobs");
  }
}
