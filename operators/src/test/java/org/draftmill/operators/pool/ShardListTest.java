package org.draftmill.operators.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class ShardListTest {

  @Test
  void theClosedFormsAgreeWithCounting() {
    for (int shards = 1; shards <= 5; shards++) {
      for (int accumulation = 1; accumulation <= 8; accumulation++) {
        for (long jobs = 0; jobs <= 30; jobs++) {
          for (int shard = 0; shard < shards; shard++) {
            count(new ShardList(shard, shards, jobs, accumulation));
          }
        }
      }
    }
  }

  private static void count(ShardList list) {
    assertThat(list.steps())
        .isEqualTo((long) Math.ceil((double) list.jobs() / list.accumulation()));
    long[] ofStep = new long[(int) list.steps()];
    long place = 0;
    for (long number = 0; number < list.jobs(); number++) {
      if (number % list.shards() == list.shard()) {
        ofStep[(int) (number / list.accumulation())]++;
        assertThat(list.position(place)).isEqualTo(number);
        assertThat(list.place(number)).isEqualTo(place);
        place++;
      }
    }
    assertThat(list.size()).isEqualTo(place);
    long before = 0;
    for (int step = 0; step < ofStep.length; step++) {
      assertThat(list.releasesBefore(step)).isEqualTo(before);
      before += ofStep[step];
    }
    assertThat(list.releasesBefore(list.steps())).isEqualTo(before);
  }

  @Test
  void aPositionOfAnotherShardIsRefused() {
    assertThatThrownBy(() -> new ShardList(1, 3, 10, 4).place(5)).hasMessageContaining("shard 1");
    assertThatThrownBy(() -> new ShardList(1, 3, 10, 4).place(10)).hasMessageContaining("10 jobs");
  }
}
