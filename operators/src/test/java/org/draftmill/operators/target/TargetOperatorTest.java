package org.draftmill.operators.target;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.apache.flink.streaming.api.operators.StreamFlatMap;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;
import org.apache.flink.util.ExceptionUtils;
import org.awaitility.Awaitility;
import org.draftmill.compute.InputException;
import org.draftmill.compute.cuda.MatrixProducts;
import org.draftmill.operators.jobs.ExtractionJob;
import org.draftmill.serializers.HiddenDType;
import org.draftmill.serializers.HiddenStateChunk;
import org.draftmill.serializers.HiddenStateChunkSerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(600)
@SuppressWarnings("try") // Flink's harnesses may be interrupted when closed
class TargetOperatorTest {
  private static final int ANY_PRIORITY = -1;

  @TempDir private Path letters;
  private final TestingExtractor extractor = new TestingExtractor();

  private static TargetSettings settings(Duration timeout) {
    return new TargetSettings(
        "model",
        "dataset",
        "reference",
        1,
        MatrixProducts.OWN,
        List.of(1),
        true,
        HiddenDType.FLOAT32,
        4 << 10,
        0,
        timeout);
  }

  private static ExtractionJob job(long position) {
    return TestingExtractor.job(position, 70, 80);
  }

  /** One target with its output. */
  private static final class Target
      extends OneInputStreamOperatorTestHarness<ExtractionJob, HiddenStateChunk> {
    Target(TestingExtractor extractor, Duration timeout) throws Exception {
      this(new TargetOperatorFactory(settings(timeout), (settings, backend) -> extractor));
    }

    Target(TargetOperatorFactory factory) throws Exception {
      super(factory, 4, 2, 1);
      setup(HiddenStateChunkSerializer.INSTANCE);
    }

    static Target open(TestingExtractor extractor) throws Exception {
      Target target = new Target(extractor, Duration.ofMinutes(1));
      target.open();
      return target;
    }

    void process(long position) throws Exception {
      processElement(new StreamRecord<>(job(position)));
    }

    /** Waits for a mail and does what it says. */
    void runMail() throws Exception {
      getTaskMailbox().take(ANY_PRIORITY).run();
    }

    /** Positions of the jobs that came out; fails unless each came whole. */
    List<Long> jobsOut() {
      List<Long> jobs = new ArrayList<>();
      int next = 0;
      for (HiddenStateChunk chunk : extractOutputValues()) {
        if (next == 0) {
          jobs.add(chunk.position());
        }
        assertThat(chunk.position()).isEqualTo(jobs.get(jobs.size() - 1));
        assertThat(chunk.chunk()).isEqualTo(next);
        next = (next + 1) % chunk.chunks();
      }
      assertThat(next).as("chunks of a job begun").isZero();
      return jobs;
    }
  }

  /** A machine that stands still may let the time pass before the model is loaded at all. */
  @Test
  void aModelThatIsNeverLoadedFailsTheTask() throws Exception {
    String said = "";
    for (long millis = 200; !said.contains("loading model") && millis < 60_000; millis *= 4) {
      said = saidOfAModelThatIsNeverLoaded(Duration.ofMillis(millis));
    }
    assertThat(said)
        .matches(
            "Target \\(2/2\\) is not ready after \\d+ s, longer than run.start-timeout allows; it is"
                + " opening its device and loading model, in .*");
  }

  private String saidOfAModelThatIsNeverLoaded(Duration startTimeout) throws Exception {
    CountDownLatch failed = new CountDownLatch(1);
    TargetOperatorFactory factory =
        new TargetOperatorFactory(
                settings(Duration.ofMinutes(1)), (settings, backend) -> loaded(failed))
            .startWithin(startTimeout);
    try (Target target = new Target(factory)) {
      target.getEnvironment().setExpectedExternalFailureCause(IOException.class);
      Thread other =
          new Thread(
              () -> {
                Awaitility.await()
                    .atMost(5, TimeUnit.MINUTES)
                    .until(
                        () -> target.getEnvironment().getActualExternalFailureCause().isPresent());
                failed.countDown();
              });
      other.start();
      target.open();
      other.join();
      return target.getEnvironment().getActualExternalFailureCause().orElseThrow().getMessage();
    }
  }

  private HiddenStateExtractor loaded(CountDownLatch when) {
    try {
      when.await();
      return extractor;
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void jobsLeaveWholeAndInOrder() throws Exception {
    try (Target target = Target.open(extractor)) {
      for (int position = 0; position < 20; position++) {
        target.process(position);
      }
      target.endInput();

      assertThat(target.jobsOut())
          .containsExactlyElementsOf(java.util.stream.LongStream.range(0, 20).boxed().toList());
      assertThat(target.extractOutputValues().get(0).chunks()).isGreaterThan(1);
    }
    assertThat(extractor.closed).isTrue();
  }

  @Test
  void allChunksOfAJobLeaveInOneMail() throws Exception {
    try (Target target = Target.open(extractor)) {
      target.process(0);
      target.process(1);
      assertThat(target.getOutput()).isEmpty();

      target.runMail();
      assertThat(target.jobsOut()).containsExactly(0L);
      target.runMail();
      assertThat(target.jobsOut()).containsExactly(0L, 1L);
    }
  }

  @Test
  void returnsWhenThereIsRoomForOneJobMore() throws Exception {
    CountDownLatch gate = new CountDownLatch(1);
    extractor.onForward = job -> gate.await();
    try (Target target = Target.open(extractor)) {
      target.process(0);
      target.process(1);
      assertThat(target.getOutput()).as("two are inside, and it returned").isEmpty();

      extractor.onPrepare = job -> gate.countDown(); // only once the third job is inside
      target.process(2);
      assertThat(target.jobsOut()).as("it had to wait for one").isNotEmpty().startsWith(0L);
    }
  }

  @Test
  void jobsInFlightAreDoneFirstAfterARestore() throws Exception {
    CountDownLatch never = new CountDownLatch(1);
    extractor.onForward = job -> never.await();
    OperatorSubtaskState state;
    try (Target target = Target.open(extractor)) {
      target.process(5);
      target.process(3);
      state = target.snapshot(1, 1);
    }

    TestingExtractor after = new TestingExtractor();
    try (Target target = new Target(after, Duration.ofMinutes(1))) {
      target.initializeState(state);
      target.open();
      target.process(9);
      target.endInput();

      assertThat(target.jobsOut()).containsExactly(3L, 5L, 9L);
    }
  }

  @Test
  void aDoneJobIsNoLongerState() throws Exception {
    OperatorSubtaskState state;
    try (Target target = Target.open(extractor)) {
      target.process(0);
      target.process(1);
      target.runMail();
      state = target.snapshot(1, 1);
    }

    TestingExtractor after = new TestingExtractor();
    try (Target target = new Target(after, Duration.ofMinutes(1))) {
      target.initializeState(state);
      target.open();
      target.endInput();
      assertThat(target.jobsOut()).containsExactly(1L);
    }
  }

  /** Two subtasks' jobs restored into one: more than its pipeline holds. */
  @Test
  void moreRestoredJobsThanThePipelineHoldsAreDoneOneAfterTheOther() throws Exception {
    CountDownLatch never = new CountDownLatch(1);
    extractor.onForward = job -> never.await();
    List<OperatorSubtaskState> states = new ArrayList<>();
    for (int subtask = 0; subtask < 3; subtask++) {
      try (Target target = Target.open(extractor)) {
        target.process(10 - subtask);
        target.process(20 + subtask);
        states.add(target.snapshot(1, 1));
      }
    }
    OperatorSubtaskState all =
        OneInputStreamOperatorTestHarness.repackageState(
            states.toArray(OperatorSubtaskState[]::new));
    OperatorSubtaskState one =
        OneInputStreamOperatorTestHarness.repartitionOperatorState(all, 4, 3, 1, 0);

    OperatorSubtaskState again;
    try (Target target = new Target(extractor, Duration.ofMinutes(1))) {
      target.initializeState(one);
      target.open();
      again = target.snapshot(2, 2); // some are inside, some wait
    }
    try (Target target = new Target(new TestingExtractor(), Duration.ofMinutes(1))) {
      target.initializeState(again);
      target.open();
      target.endInput();
      assertThat(target.jobsOut()).containsExactly(8L, 9L, 10L, 20L, 21L, 22L);
    }
  }

  @Test
  void aDeadLetterLeavesATombstoneAndGoesToTheSide() throws Exception {
    extractor.notFinite.add(1L);
    try (Target target = Target.open(extractor)) {
      for (int position = 0; position < 3; position++) {
        target.process(position);
      }
      target.endInput();

      assertThat(target.jobsOut()).containsExactly(0L, 1L, 2L);
      assertThat(target.extractOutputValues().stream().filter(HiddenStateChunk::isTombstone))
          .singleElement()
          .satisfies(tombstone -> assertThat(tombstone.position()).isEqualTo(1));
      assertThat(target.getSideOutput(DeadLetter.OUTPUT))
          .singleElement()
          .satisfies(record -> assertThat(record.getValue().position()).isEqualTo(1));
    }
  }

  @Test
  void aFailureFailsTheTask() throws Exception {
    extractor.onForward =
        job -> {
          throw new AssertionError("This failure is part of the test.");
        };
    try (Target target = Target.open(extractor)) {
      target.process(0);
      assertThatThrownBy(target::runMail)
          .hasMessageContaining("Target (2/2) failed")
          .hasRootCauseMessage("This failure is part of the test.");
    }
    assertThat(extractor.closed).isTrue();
  }

  @Test
  void whatIsWrongWithTheInputIsNotWorthARestart() throws Exception {
    extractor.onForward =
        job -> {
          throw new InputException("This failure is part of the test.");
        };
    try (Target target = Target.open(extractor)) {
      target.process(0);
      assertThatThrownBy(target::endInput)
          .satisfies(
              e ->
                  assertThat(ExceptionUtils.findThrowable(e, SuppressRestartsException.class))
                      .isPresent())
          .hasRootCauseInstanceOf(InputException.class);
    }
  }

  @Test
  void aJobThatHangsFailsTheTaskByName() throws Exception {
    CountDownLatch never = new CountDownLatch(1);
    extractor.onForward = job -> never.await();
    try (Target target = new Target(extractor, Duration.ofMillis(20))) {
      target.open();
      target.process(4);

      Awaitility.await()
          .atMost(5, TimeUnit.MINUTES)
          .untilAsserted(
              () ->
                  assertThatThrownBy(() -> target.advanceTime(10))
                      .hasStackTraceContaining("Target (2/2) hangs: the forward pass of job 4 ")
                      .hasStackTraceContaining("target.timeout"));
    }
  }

  @Test
  void tooManyDeadLettersFailTheRunForGood() throws Exception {
    OperatorSubtaskState state;
    try (var limit = limit(2)) {
      limit.open();
      limit.processElement(new StreamRecord<>(letter(1)));
      limit.processElement(new StreamRecord<>(letter(2)));
      assertThat(limit.extractOutputValues()).hasSize(2);
      state = limit.snapshot(1, 1);
    }
    try (var limit = limit(2)) {
      limit.initializeState(state);
      limit.open();
      assertThatThrownBy(() -> limit.processElement(new StreamRecord<>(letter(3))))
          .isInstanceOf(SuppressRestartsException.class)
          .rootCause()
          .hasMessageContaining("3 jobs could not be extracted")
          .hasMessageContaining("target.max-dead-letters");
    }
  }

  /** As after a newest checkpoint that was damaged: the one before knows nothing of the letter. */
  @Test
  void aLetterThatStandsInTheFilesIsCountedAndNotWrittenAgain() throws Exception {
    Files.writeString(
        letters.resolve("dead-letter-a-0.jsonl"), letter(1).toJson() + "\nno letter\n");
    Files.writeString(letters.resolve(".dead-letter-b-0.jsonl.inprogress.x"), letter(2).toJson());
    Files.write(letters.resolve("dead-letter-c-0.jsonl"), new byte[] {(byte) 0xff, '\n'});
    try (var limit = limit(2)) {
      limit.open();
      limit.processElement(new StreamRecord<>(letter(1)));
      limit.processElement(new StreamRecord<>(letter(2)));
      assertThat(limit.extractOutputValues()).extracting(DeadLetter::position).containsExactly(2L);
      assertThatThrownBy(() -> limit.processElement(new StreamRecord<>(letter(3))))
          .isInstanceOf(SuppressRestartsException.class);
    }
  }

  private static DeadLetter letter(long position) {
    return DeadLetter.of(job(position), 3, "not finite");
  }

  private OneInputStreamOperatorTestHarness<DeadLetter, DeadLetter> limit(int most)
      throws Exception {
    return new OneInputStreamOperatorTestHarness<>(
        new StreamFlatMap<>(new DeadLetterLimit(most, letters.toString())));
  }
}
