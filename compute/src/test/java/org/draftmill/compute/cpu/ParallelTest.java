package org.draftmill.compute.cpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ParallelTest {
  private static final long MUCH = Long.MAX_VALUE;

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 5})
  void everyTaskRunsOnceInEveryLoop(int threads) {
    try (Parallel parallel = new Parallel(threads, "test")) {
      for (int loop = 0; loop < 2000; loop++) {
        AtomicIntegerArray runs = new AtomicIntegerArray(1 + loop % 7);
        parallel.run(
            runs.length(),
            MUCH,
            (task, worker) -> {
              assertThat(worker).isBetween(0, threads - 1);
              runs.incrementAndGet(task);
            });
        for (int task = 0; task < runs.length(); task++) {
          assertThat(runs.get(task)).isEqualTo(1);
        }
      }
    }
  }

  @Test
  void aFailureReachesTheCallerAndTheCrewGoesOn() {
    try (Parallel parallel = new Parallel(3, "test")) {
      assertThatThrownBy(
              () ->
                  parallel.run(
                      100,
                      MUCH,
                      (task, worker) -> {
                        if (task == 41) {
                          throw new IllegalArgumentException("task 41");
                        }
                      }))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("task 41");
      int[] done = new int[10];
      parallel.run(10, MUCH, (task, worker) -> done[task]++);
      assertThat(done).containsOnly(1);
    }
  }

  @Test
  void anInterruptedCallerFinishesAndStaysInterrupted() {
    try (Parallel parallel = new Parallel(2, "test")) {
      Thread.currentThread().interrupt();
      int[] done = new int[50];
      parallel.run(50, MUCH, (task, worker) -> done[task]++);
      assertThat(done).containsOnly(1);
      assertThat(Thread.interrupted()).isTrue();
    }
  }

  @Test
  void littleWorkStaysWithTheCaller() {
    try (Parallel parallel = new Parallel(4, "test")) {
      Thread caller = Thread.currentThread();
      parallel.run(20, 100, (task, worker) -> assertThat(Thread.currentThread()).isSameAs(caller));
    }
  }

  @Test
  void useAfterCloseFails() {
    Parallel parallel = new Parallel(2, "test");
    parallel.close();
    parallel.close();
    assertThatThrownBy(() -> parallel.run(1, MUCH, (task, worker) -> {}))
        .isInstanceOf(IllegalStateException.class);
  }
}
