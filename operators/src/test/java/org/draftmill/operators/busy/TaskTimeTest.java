package org.draftmill.operators.busy;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.runtime.metrics.TimerGauge;
import org.apache.flink.runtime.metrics.groups.TaskIOMetricGroup;
import org.apache.flink.runtime.metrics.groups.UnregisteredMetricGroups;
import org.apache.flink.streaming.api.operators.util.PausableRelativeClock;
import org.apache.flink.util.clock.ManualClock;
import org.apache.flink.util.function.ThrowingRunnable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The task's thread is acted by the test, as Flink's mailbox loop and its network stack do it. */
class TaskTimeTest {
  private final ManualClock clock = new ManualClock(Duration.ofSeconds(1).toNanos());
  private final TaskIOMetricGroup task =
      new TaskIOMetricGroup(UnregisteredMetricGroups.createUnregisteredTaskMetricGroup(), clock);
  private final TimerGauge idle = task.getIdleTimeMsPerSecond();
  private final TimerGauge blocked = task.getHardBackPressuredTimePerSecond();
  private final TestingMailbox mailbox = new TestingMailbox();
  private final TaskTime time = new TaskTime(task, mailbox);

  @BeforeEach
  void start() {
    time.start();
    time.start();
  }

  private void pass(long millis) {
    clock.advanceTime(Duration.ofMillis(millis));
  }

  /** What Flink does for each mail of a task whose thread waits for input. */
  private void runMails() throws Exception {
    for (ThrowingRunnable<? extends Exception> mail; (mail = mailbox.mails.poll()) != null; ) {
      idle.markEnd();
      mail.run();
      idle.markStart();
    }
  }

  @Test
  void aTaskThatWaitsForInputIsIdleOnlyWhileNobodyWorks() throws Exception {
    idle.markStart();
    pass(1000);
    time.working(true);
    pass(300);
    time.working(false);
    runMails();
    pass(500);

    idle.update();
    assertThat(idle.getAccumulatedCount()).isEqualTo(1500);
  }

  @Test
  void inputThatComesWhileSomebodyWorksDoesNotMakeItIdle() throws Exception {
    time.working(true);
    idle.markStart();
    pass(1000);
    idle.markEnd();
    pass(100);
    idle.markStart();
    pass(1000);

    assertThat(idle.isMeasuring()).isFalse();
    assertThat(idle.getAccumulatedCount()).isZero();
    time.working(false);
    runMails();
    pass(10);
    idle.markEnd();
    assertThat(idle.getAccumulatedCount()).isEqualTo(10);
  }

  @Test
  void aTaskThatDoesNotRestStaysBusyWhenWorkEnds() {
    time.working(true);
    pass(1000);
    time.working(false);
    pass(1000);

    assertThat(mailbox.mails).as("nothing to be started again").isEmpty();
    idle.update();
    assertThat(idle.getAccumulatedCount()).isZero();
  }

  @Test
  void anOutputWithoutRoomIsBackPressureOnlyWhileNobodyWorks() {
    time.working(true);
    time.emit(
        () -> {
          blocked.markStart();
          pass(400);
          time.working(false);
          pass(600);
          time.working(true);
          pass(50);
          time.working(false);
          pass(5);
          blocked.markEnd();
          pass(7);
        });
    pass(1000);

    assertThat(blocked.getAccumulatedCount()).isEqualTo(605);
    assertThat(blocked.isMeasuring()).isFalse();
    assertThat(task.getAccumulatedBackPressuredTimeMs()).isEqualTo(605);
  }

  /** Flink's own listeners count starts and ends and fail when an end comes first. */
  @Test
  void listenersThatWereThereBeforeSeeEachStartBeforeItsEnd() {
    TaskIOMetricGroup another =
        new TaskIOMetricGroup(UnregisteredMetricGroups.createUnregisteredTaskMetricGroup(), clock);
    PausableRelativeClock ofSource = new PausableRelativeClock(clock);
    another.registerBackPressureListener(ofSource);
    TaskTime late = new TaskTime(another, mailbox);
    late.start();

    late.working(true);
    another.getHardBackPressuredTimePerSecond().markStart();
    pass(1000);
    another.getHardBackPressuredTimePerSecond().markEnd();
    long before = ofSource.relativeTimeMillis();
    pass(10);
    assertThat(ofSource.relativeTimeMillis()).as("it goes on").isEqualTo(before + 10);
  }

  private static final class TestingMailbox implements MailboxExecutor {
    final Queue<ThrowingRunnable<? extends Exception>> mails = new ArrayDeque<>();

    @Override
    public void execute(
        MailOptions options,
        ThrowingRunnable<? extends Exception> command,
        String descriptionFormat,
        Object... descriptionArgs) {
      mails.add(command);
    }

    @Override
    public void yield() {
      throw new UnsupportedOperationException();
    }

    @Override
    public boolean tryYield() {
      throw new UnsupportedOperationException();
    }

    @Override
    public boolean shouldInterrupt() {
      return false;
    }
  }
}
