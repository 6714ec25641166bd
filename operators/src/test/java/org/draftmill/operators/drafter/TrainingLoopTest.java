package org.draftmill.operators.drafter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.draftmill.operators.drafter.TestingDeliveries.marker;
import static org.draftmill.operators.drafter.TestingDeliveries.microbatch;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.assertj.core.data.Offset;
import org.draftmill.compute.InputException;
import org.draftmill.compute.drafter.Collective;
import org.draftmill.compute.drafter.MicrobatchFigures;
import org.draftmill.serializers.StepMarker;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(600)
class TrainingLoopTest implements TrainingLoop.Listener {
  private final List<Long> started = new ArrayList<>();
  private final List<StepReport> reports = new ArrayList<>();
  private final List<Boolean> computing = new ArrayList<>();
  private final CompletableFuture<Throwable> failed = new CompletableFuture<>();
  private TrainingLoop loop;

  @Override
  public void started(ReceivedMicrobatch microbatch) {
    started.add(microbatch.job().position());
  }

  @Override
  public void trained(MicrobatchFigures figures) {}

  @Override
  public void computing(boolean now) {
    computing.add(now);
  }

  @Override
  public void stepped(StepReport report) {
    reports.add(report);
  }

  @Override
  public void failed(Throwable failure) {
    failed.complete(failure);
  }

  @AfterEach
  void close() throws IOException {
    loop.close();
  }

  private TrainingLoop start(Trainer trainer, TrainingLoop.Group group, Duration timeout) {
    loop = new TrainingLoop("drafter 3", trainer, group, this, timeout, new SkippedSteps(1, 0));
    loop.start();
    return loop;
  }

  private TrainingLoop start(Trainer trainer) {
    return start(trainer, Collective::alone, Duration.ofMinutes(1));
  }

  @Test
  void worksInTheOrderOfTheStreamAndDrains() throws Exception {
    TestingTrainer trainer = TestingTrainer.quick();
    start(trainer);
    loop.train(microbatch(0, 4));
    loop.train(microbatch(0, 2));
    loop.step(0, List.of(marker(0, 0, 4, 2)));
    loop.train(microbatch(1, 9));
    loop.drain();
    assertThat(loop.pending()).isZero();
    assertThat(trainer.done)
        .containsExactly("microbatch 4", "microbatch 2", "step 0", "microbatch 9");
    assertThat(started).containsExactly(4L, 2L, 9L);
    assertThat(computing).startsWith(true, false).endsWith(true, false);
    assertThat(reports).hasSize(1);
    StepReport report = reports.get(0);
    assertThat(report.seconds().forward()).isEqualTo(0.5);
    assertThat(report.seconds().backward()).isEqualTo(1.0);
    assertThat(report.secondsOfAll().reduce()).isCloseTo(0.125, Offset.offset(1e-6));
    loop.drain();
  }

  @Test
  void tombstonesKeepTheirPlace() throws Exception {
    start(TestingTrainer.quick());
    loop.train(microbatch(0, 4));
    StepMarker marker =
        StepMarker.of(
            0,
            0,
            List.of(
                new StepMarker.Release(TestingDeliveries.job(4), false),
                new StepMarker.Release(TestingDeliveries.job(5), true)));
    loop.step(0, List.of(marker));
    loop.drain();
    assertThat(reports.get(0).figures().tombstones()).isEqualTo(1);
  }

  @Test
  void oneSkippedStepTooManyIsNotWorthARestart() throws Exception {
    TestingTrainer trainer = TestingTrainer.quick();
    trainer.skips = true;
    start(trainer);
    loop.train(microbatch(0, 4));
    loop.step(0, List.of(marker(0, 0, 4)));
    loop.drain();
    loop.train(microbatch(1, 2));
    loop.step(1, List.of(marker(1, 0, 2)));
    assertThatThrownBy(loop::drain)
        .isInstanceOf(SuppressRestartsException.class)
        .rootCause()
        .hasMessageContaining("Step 1 was skipped")
        .hasMessageContaining("2 steps, more than the 1 that drafter.max-skipped-steps allows")
        .hasMessageContaining("its jobs are [2]");
    assertThat(reports).as("also the last one is reported").hasSize(2);
  }

  @Test
  void aMicrobatchThatGotLostIsNoticed() {
    start(TestingTrainer.quick());
    loop.train(microbatch(0, 4));
    loop.step(0, List.of(marker(0, 0, 4, 2)));
    assertThatThrownBy(loop::drain)
        .hasMessageContaining("drafter 3 failed")
        .hasMessageContaining("released 2 microbatches in step 0, but the drafters took 1");
  }

  @Test
  void drainWaitsForTheGroupAndForWork() throws Exception {
    CountDownLatch met = new CountDownLatch(1);
    TestingTrainer trainer = new TestingTrainer();
    start(
        trainer,
        () -> {
          try {
            met.await();
          } catch (InterruptedException e) {
            throw new IOException(e);
          }
          return Collective.alone();
        },
        Duration.ofMinutes(1));
    loop.train(microbatch(0, 4));
    CompletableFuture<Void> drained = drainElsewhere();
    assertThat(drained).isNotDone();
    met.countDown();
    assertThat(trainer.entered.await(5, TimeUnit.MINUTES)).isTrue();
    assertThat(drained).isNotDone();
    trainer.permits.release();
    drained.get(5, TimeUnit.MINUTES);
  }

  @Test
  void aFailureEndsADrainAndIsReported() throws Exception {
    TestingTrainer trainer = new TestingTrainer();
    start(trainer);
    loop.train(microbatch(0, 4));
    CompletableFuture<Void> drained = drainElsewhere();
    trainer.failure = new IllegalStateException("device lost");
    trainer.permits.release();
    assertThat(failed.get(5, TimeUnit.MINUTES)).hasMessage("device lost");
    assertThatThrownBy(() -> drained.get(5, TimeUnit.MINUTES))
        .hasRootCauseMessage("device lost")
        .hasMessageContaining("drafter 3 failed: device lost");
    assertThatThrownBy(loop::check).hasMessage("drafter 3 failed: device lost");
  }

  @Test
  void aMicrobatchThatTakesTooLongIsNamed() throws Exception {
    TestingTrainer trainer = new TestingTrainer();
    start(trainer, Collective::alone, Duration.ofMillis(200));
    loop.checkProgress();
    loop.train(microbatch(6, 4));
    assertThatThrownBy(loop::drain)
        .hasMessageContaining("drafter 3 has been at the microbatch of job 4")
        .hasMessageContaining("of step 6")
        .hasMessageContaining("drafter.timeout");
  }

  @Test
  void waitingForOthersIsNotTooLong() throws Exception {
    CountDownLatch blocked = new CountDownLatch(1);
    CountDownLatch others = new CountDownLatch(1);
    Collective slow =
        new TestingCollective() {
          @Override
          public void allReduce(long[] values) throws IOException {
            blocked.countDown();
            try {
              others.await();
            } catch (InterruptedException e) {
              throw new IOException(e);
            }
          }
        };
    start(TestingTrainer.quick(), () -> slow, Duration.ofMillis(1));
    loop.step(0, List.of(marker(0, 0)));
    assertThat(blocked.await(5, TimeUnit.MINUTES)).isTrue();
    Thread.sleep(5);
    loop.checkProgress();
    others.countDown();
    assertThat(failed).isNotDone();
  }

  @Test
  void closingInterruptsWhatItIsAt() throws Exception {
    TestingTrainer trainer = new TestingTrainer();
    start(trainer);
    loop.train(microbatch(0, 4));
    assertThat(trainer.entered.await(5, TimeUnit.MINUTES)).isTrue();
    loop.close();
    assertThat(failed).as("closing is no failure").isNotDone();
    assertThat(reports).isEmpty();
  }

  private CompletableFuture<Void> drainElsewhere() {
    return CompletableFuture.runAsync(
        () -> {
          try {
            loop.drain();
          } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
          } catch (InterruptedException e) {
            throw new IllegalStateException(e);
          }
        });
  }

  /** A group of one that a test may make behave otherwise. */
  private abstract static class TestingCollective implements Collective {
    @Override
    public int rank() {
      return 0;
    }

    @Override
    public int size() {
      return 1;
    }

    @Override
    public void reduceScatter(long[] values, int[] bounds) {}

    @Override
    public void allGather(float[] values, int[] bounds) {}

    @Override
    public void allGather(double[] values, int[] bounds) {}

    @Override
    public void close() {}
  }

  private static void awaitWhateverComes(CountDownLatch latch) {
    while (latch.getCount() > 0) {
      try {
        latch.await();
      } catch (InterruptedException e) {
        // it hangs
      }
    }
  }

  @Test
  void whatAThreadThatHangsUsesIsGivenBackWhenItEnds() throws Exception {
    CountDownLatch computing = new CountDownLatch(1);
    CountDownLatch over = new CountDownLatch(1);
    CountDownLatch givenBack = new CountDownLatch(1);
    start(
        TestingTrainer.quick(),
        () -> {
          computing.countDown();
          awaitWhateverComes(over);
          return Collective.alone();
        },
        Duration.ofMinutes(1));
    computing.await();

    assertThatThrownBy(() -> loop.close(Duration.ofMillis(10)))
        .hasMessageContaining("drafter 3 did not stop");
    loop.afterwards(givenBack::countDown);
    assertThat(givenBack.getCount()).isOne();
    over.countDown();

    assertThat(givenBack.await(5, TimeUnit.MINUTES)).isTrue();
  }

  @Test
  void whatAThreadThatHasEndedUsedIsGivenBackAtOnce() throws Exception {
    start(TestingTrainer.quick());
    loop.close();
    AtomicBoolean givenBack = new AtomicBoolean();

    loop.afterwards(() -> givenBack.set(true));

    assertThat(givenBack).isTrue();
  }

  @Test
  void anInterruptionThatNobodyAskedForIsAFailure() throws Exception {
    start(TestingTrainer.quick());
    loop.drain();
    Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().equals("draftmill drafter 3"))
        .forEach(Thread::interrupt);
    assertThat(failed.get(5, TimeUnit.MINUTES)).hasMessageContaining("was interrupted");
    loop.train(microbatch(0, 4));
    assertThatThrownBy(loop::drain).hasMessageContaining("drafter 3 failed: Its computing thread");
  }

  @Test
  void whatOnlyOtherOptionsCanHelpIsNotWorthARestart() throws Exception {
    start(
        TestingTrainer.quick(),
        () -> {
          throw new InputException("This failure is part of the test.");
        },
        Duration.ofMinutes(1));
    failed.get(5, TimeUnit.MINUTES);
    assertThatThrownBy(loop::drain)
        .isInstanceOf(SuppressRestartsException.class)
        .hasCauseInstanceOf(InputException.class);
  }
}
