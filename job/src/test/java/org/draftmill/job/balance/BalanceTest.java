package org.draftmill.job.balance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import org.draftmill.job.balance.Balance.Bound;
import org.draftmill.job.balance.Balance.Split;
import org.junit.jupiter.api.Test;

class BalanceTest {
  private static final int ACCUMULATION = 12;
  private static final double SECONDS = 100;

  /** A stage whose devices do {@code each} tokens a second and trained {@code rate} of them. */
  private static StageWork stage(int devices, double each, double rate) {
    double tokens = rate * SECONDS;
    return new StageWork(devices, tokens, tokens / each, 0, SECONDS);
  }

  private static Balance balance(int targets, double target, int drafters, double drafter) {
    double rate = Math.min(targets * target, drafters * drafter);
    return new Balance(
        stage(targets, target, rate), stage(drafters, drafter, rate), ACCUMULATION, 500);
  }

  /** The run that gave this project its shape had 5 targets and 3 drafters. */
  @Test
  void theSlowerStageBoundsTheRunAndTheOtherWaits() {
    Balance balance = balance(5, 3000, 3, 8000);

    assertThat(balance.targetCapacity()).isEqualTo(15_000, within(1e-6));
    assertThat(balance.drafterCapacity()).isEqualTo(24_000, within(1e-6));
    assertThat(balance.bound()).isEqualTo(Bound.TARGETS);
    assertThat(balance.waiting()).isEqualTo(1 - 15.0 / 24, within(1e-9));
    assertThat(balance.targets().busy()).isEqualTo(1);
    assertThat(balance.drafters().busy()).isEqualTo(15.0 / 24, within(1e-9));
  }

  @Test
  void theBestSplitOfTheSameDevicesIsFound() {
    Split best = balance(5, 3000, 3, 8000).best();

    assertThat(best).isEqualTo(new Split(6, 2, 16_000));
    assertThat(balance(5, 3000, 3, 8000).gain()).isEqualTo(16.0 / 15 - 1, within(1e-9));
  }

  @Test
  void capacityComesFromBusySecondsAndNotFromTheClock() {
    StageWork idleHalfOfTheTime = new StageWork(2, 1000, 50, 0, 100);

    assertThat(idleHalfOfTheTime.perDevice()).isEqualTo(20);
    assertThat(idleHalfOfTheTime.measured()).isEqualTo(10);
    assertThat(idleHalfOfTheTime.busy()).isEqualTo(0.25);
  }

  @Test
  void theAllReduceIsPartOfTheWorkOfADrafter() {
    assertThat(new StageWork(2, 1000, 40, 10, 100).perDevice()).isEqualTo(20);
  }

  @Test
  void stagesAsFastAsEachOtherBoundNothing() {
    Balance balance = balance(4, 1000, 4, 1020);

    assertThat(balance.bound()).isEqualTo(Bound.NEITHER);
    assertThat(balance.best()).isEqualTo(balance.present());
    assertThat(balance.gain()).isZero();
  }

  /** 12 microbatches on 5 drafters take 3 rounds, as many as on 4. */
  @Test
  void draftersTakeWholeMicrobatches() {
    Balance five = balance(20, 1000, 5, 1000);
    Balance four = balance(20, 1000, 4, 1000);

    assertThat(five.drafterCapacity()).isEqualTo(four.drafterCapacity());
    assertThat(balance(20, 1000, 12, 1000).drafterCapacity()).isEqualTo(12_000);
    assertThat(balance(20, 1000, 40, 1000).drafterCapacity())
        .as("more drafters than microbatches in a step")
        .isEqualTo(12_000);
  }

  @Test
  void ofEquallyFastSplitsTheClosestIsTaken() {
    Balance balance = balance(8, 1000, 6, 100);

    assertThat(balance.best().drafters()).isEqualTo(12);
    assertThat(balance.best().targets()).isEqualTo(2);
  }

  @Test
  void oneDeviceOfEachCannotBeSplitAnotherWay() {
    Balance balance = balance(1, 1000, 1, 100);

    assertThat(balance.best()).isEqualTo(balance.present());
    assertThat(balance.bound()).isEqualTo(Bound.DRAFTERS);
    assertThat(balance.figures().gain()).isZero();
  }

  @Test
  void aStageThatDidNothingIsRefused() {
    assertThatThrownBy(() -> new StageWork(2, 0, 1, 0, 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("0.0 tokens");
  }
}
