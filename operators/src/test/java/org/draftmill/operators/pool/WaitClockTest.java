package org.draftmill.operators.pool;

import static org.assertj.core.api.Assertions.assertThat;

import org.draftmill.operators.pool.PoolShard.Waiting;
import org.junit.jupiter.api.Test;

class WaitClockTest {

  private long now = 5_000_000_000L;

  @Test
  void eachWaitIsAddedUp() {
    WaitClock clock = new WaitClock(Waiting.MIN_READY, () -> now);
    now += 2_000_000_000L;
    assertThat(clock.seconds(Waiting.MIN_READY)).isEqualTo(2);
    clock.set(Waiting.DEMAND);
    now += 3_000_000_000L;
    clock.set(Waiting.DEMAND);
    now += 1_000_000_000L;
    clock.set(Waiting.MIN_READY);
    now += 500_000_000L;
    assertThat(clock.seconds(Waiting.MIN_READY)).isEqualTo(2.5);
    assertThat(clock.seconds(Waiting.DEMAND)).isEqualTo(4);
    assertThat(clock.seconds(Waiting.JOB)).isZero();
  }
}
