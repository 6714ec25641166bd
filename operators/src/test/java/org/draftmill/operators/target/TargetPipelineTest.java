package org.draftmill.operators.target;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.draftmill.compute.InputException;
import org.draftmill.operators.jobs.ExtractionJob;
import org.draftmill.serializers.HiddenDType;
import org.draftmill.serializers.HiddenStateChunk;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(600)
class TargetPipelineTest {
  private static final int RETRIES = 2;

  private final TestingExtractor extractor = new TestingExtractor();
  private final BlockingQueue<JobResult> results = new LinkedBlockingQueue<>();
  private final BlockingQueue<Throwable> failures = new LinkedBlockingQueue<>();
  private final TargetPipeline pipeline =
      new TargetPipeline(
          extractor,
          new ChunkPacker(4 << 10, HiddenDType.FLOAT32),
          RETRIES,
          new PipelineActivity(System::nanoTime, working -> {}),
          new TargetPipeline.Listener() {
            @Override
            public void done(JobResult result) {
              results.add(result);
            }

            @Override
            public void failed(Throwable failure) {
              failures.add(failure);
            }
          },
          "(under test)");

  @AfterEach
  void closeAndCheckThatAllWasGivenBack() {
    pipeline.close();
    assertThat(extractor.closed).isTrue();
    assertThat(extractor.open).hasValue(0);
    assertThat(threads()).isZero();
  }

  private static ExtractionJob job(long position) {
    return TestingExtractor.job(position, 8, 8);
  }

  @Test
  void jobsComeOutInOrder() throws InterruptedException {
    for (int position = 0; position < 50; position++) {
      pipeline.submit(job(position));
      if (position >= TargetPipeline.DEPTH - 1) {
        JobResult result = results.take();
        assertThat(result.job().position()).isEqualTo(position - TargetPipeline.DEPTH + 1);
        assertThat(result.chunks()).isNotEmpty();
        assertThat(result.deadLetter()).isEmpty();
      }
    }
    assertThat(results.take().job()).isEqualTo(job(48));
    assertThat(results.take().job()).isEqualTo(job(49));
  }

  /** Each of the three parts waits until the two others are at work on other jobs. */
  @Test
  void theThreePartsOverlap() throws InterruptedException {
    CyclicBarrier allAtWork = new CyclicBarrier(3);
    extractor.onEncode = job -> meet(job, 0, allAtWork);
    extractor.onForward = job -> meet(job, 1, allAtWork);
    extractor.onPrepare = job -> meet(job, 2, allAtWork);
    for (int position = 0; position < 3; position++) {
      pipeline.submit(job(position));
    }
    for (int position = 0; position < 3; position++) {
      assertThat(results.take().job()).isEqualTo(job(position));
    }
  }

  private static void meet(ExtractionJob job, long position, CyclicBarrier barrier)
      throws InterruptedException {
    if (job.position() == position) {
      try {
        barrier.await();
      } catch (java.util.concurrent.BrokenBarrierException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  @Test
  void takesNoMoreThanItsDepth() {
    CountDownLatch never = new CountDownLatch(1);
    extractor.onPrepare = job -> never.await();
    assertThatThrownBy(
            () -> {
              for (int position = 0; position <= TargetPipeline.DEPTH + 1; position++) {
                pipeline.submit(job(position));
              }
            })
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void aJobThatFailsOnceIsTriedAgain() throws InterruptedException {
    extractor.onForward =
        job -> {
          if (extractor.forwards.get(job.position()) == 1) {
            throw new IllegalStateException("This failure is part of the test.");
          }
        };
    pipeline.submit(job(7));

    JobResult result = results.take();
    assertThat(result.deadLetter()).isEmpty();
    assertThat(result.chunks().get(0).isTombstone()).isFalse();
    assertThat(extractor.forwards).containsEntry(7L, 2);
  }

  @Test
  void aJobThatFailsAlwaysBecomesATombstoneInItsPlace() throws InterruptedException {
    extractor.onForward =
        job -> {
          if (job.position() == 1) {
            throw new IllegalStateException("This failure is part of the test.");
          }
        };
    extractor.notFinite.add(2L);
    List<ExtractionJob> jobs = List.of(job(0), job(1), job(2));
    jobs.forEach(pipeline::submit);

    assertThat(results.take().deadLetter()).isEmpty();
    assertTombstone(results.take(), jobs.get(1), "part of the test");
    assertTombstone(results.take(), jobs.get(2), "not finite");
    assertThat(extractor.forwards)
        .containsEntry(0L, 1)
        .containsEntry(1L, RETRIES + 1)
        .containsEntry(2L, RETRIES + 1);
  }

  private static void assertTombstone(JobResult result, ExtractionJob job, String reason) {
    assertThat(result.job()).isEqualTo(job);
    assertThat(result.chunks()).hasSize(1);
    HiddenStateChunk tombstone = result.chunks().get(0);
    assertThat(tombstone.isTombstone()).isTrue();
    assertThat(tombstone.job()).isEqualTo(job.id());
    assertThat(tombstone.rowsOfJob()).isEqualTo(job.tokens());
    assertThat(tombstone.reason()).contains(reason);
    DeadLetter letter = result.deadLetter().orElseThrow();
    assertThat(letter.position()).isEqualTo(job.position());
    assertThat(letter.attempts()).isEqualTo(RETRIES + 1);
    assertThat(letter.reason()).contains(reason);
    assertThat(letter.toJson())
        .startsWith("{\"position\":" + job.position() + ",\"epoch\":0,")
        .contains("\"sequences\":[" + job.sequenceIds()[0] + ",")
        .doesNotContain("\n");
  }

  @Test
  void whatIsWrongWithTheInputIsNotTriedAgain() throws InterruptedException {
    InputException wrong = new InputException("This failure is part of the test.");
    extractor.onForward =
        job -> {
          throw wrong;
        };
    pipeline.submit(job(0));

    assertThat(failures.take()).isSameAs(wrong);
    assertThat(extractor.forwards).containsEntry(0L, 1);
  }

  @Test
  void failuresOfEveryPartAreTold() throws InterruptedException {
    AssertionError error = new AssertionError("This failure is part of the test.");
    extractor.onEncode =
        job -> {
          throw error;
        };
    pipeline.submit(job(0));
    assertThat(failures.take()).isSameAs(error);

    extractor.onForward = extractor.onEncode;
    pipeline.submit(job(1));
    assertThat(failures.take()).isSameAs(error);

    extractor.onPrepare = extractor.onEncode;
    pipeline.submit(job(2));
    assertThat(failures.take()).isSameAs(error);
  }

  @Test
  void closingStopsWorkInEveryPartAndTellsNobody() throws InterruptedException {
    CountDownLatch atWork = new CountDownLatch(3);
    CountDownLatch never = new CountDownLatch(1);
    TestingExtractor.Hook stuck =
        job -> {
          atWork.countDown();
          never.await();
        };
    extractor.onEncode = stuck;
    pipeline.submit(job(0));
    assertThat(eventually(() -> atWork.getCount() == 2)).isTrue();
    extractor.onForward = stuck;
    pipeline.submit(job(1));
    assertThat(eventually(() -> atWork.getCount() == 1)).isTrue();
    extractor.onPrepare = stuck;
    pipeline.submit(job(2));
    atWork.await();

    pipeline.close();
    pipeline.close();

    assertThat(results).isEmpty();
    assertThat(failures).isEmpty();
  }

  @Test
  void whatAThreadStillComputesWithIsClosedWhenItEnds() throws InterruptedException {
    CountDownLatch atWork = new CountDownLatch(1);
    CountDownLatch end = new CountDownLatch(1);
    extractor.onForward =
        job -> {
          atWork.countDown();
          awaitDeafly(end);
        };
    pipeline.submit(job(0));
    atWork.await();

    pipeline.close(Duration.ofMillis(1));
    assertThat(extractor.closed).isFalse();

    end.countDown();
    assertThat(eventually(() -> extractor.closed)).isTrue();
    assertThat(eventually(() -> threads() == 0)).isTrue();
    assertThat(results).isEmpty();
    assertThat(failures).isEmpty();
  }

  /** As native code waits. */
  private static void awaitDeafly(CountDownLatch latch) {
    while (latch.getCount() > 0) {
      try {
        latch.await();
      } catch (InterruptedException e) {
        // goes on
      }
    }
  }

  private static long threads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().endsWith("(under test)"))
        .count();
  }

  private static boolean eventually(java.util.function.BooleanSupplier condition) {
    org.awaitility.Awaitility.await().atMost(5, TimeUnit.MINUTES).until(condition::getAsBoolean);
    return true;
  }
}
