package org.draftmill.operators.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ReleasePolicyTest {

  /** These numbers were computed by another program; changing them changes every run. */
  @Test
  void theSeededOrderIsPinned() {
    assertThat(order(ReleaseOrder.SEEDED, 42, 0, 4, 12))
        .containsExactly(1L, 4L, 5L, 6L, 2L, 3L, 7L, 10L, 11L, 9L, 0L, 8L);
  }

  @Test
  void seedShardAndWindowChangeTheOrder() {
    List<Long> order = order(ReleaseOrder.SEEDED, 42, 0, 4, 100);
    assertThat(order(ReleaseOrder.SEEDED, 43, 0, 4, 100)).isNotEqualTo(order);
    assertThat(order(ReleaseOrder.SEEDED, 42, 1, 4, 100)).isNotEqualTo(order);
    assertThat(order(ReleaseOrder.SEEDED, 42, 0, 5, 100)).isNotEqualTo(order);
    assertThat(order(ReleaseOrder.SEEDED, 42, 0, 1, 100)).isSorted();
  }

  @Test
  void noPlaceIsReleasedMoreThanAWindowAhead() {
    List<Long> order = order(ReleaseOrder.SEEDED, 7, 0, 10, 1000);
    for (int release = 0; release < order.size(); release++) {
      assertThat(order.get(release)).isLessThan(release + 10L);
    }
  }

  @Test
  void theSeededOrderWaitsForTheVeryPlace() {
    ReleasePolicy policy = ReleasePolicy.start(ReleaseOrder.SEEDED, 42, 0, 4, 12);
    long first = order(ReleaseOrder.SEEDED, 42, 0, 4, 12).get(0);
    TreeSet<Long> others = new TreeSet<>(LongStream.range(0, 12).boxed().toList());
    others.remove(first);
    assertThat(policy.choose(others)).isEqualTo(ReleasePolicy.NONE);
    others.add(first);
    assertThat(policy.choose(others)).isEqualTo(first);
    assertThatThrownBy(() -> policy.release(first + 1)).hasMessageContaining("not the next");
  }

  @Test
  void drawsAreEven() {
    int[] counts = new int[10];
    for (long release = 0; release < 100_000; release++) {
      counts[ReleasePolicy.draw(3, 0, release, 10)]++;
    }
    assertThat(Arrays.stream(counts).boxed())
        .allSatisfy(count -> assertThat(count).isBetween(9_600, 10_400));
  }

  @ParameterizedTest
  @EnumSource(ReleaseOrder.class)
  void anyOrderReleasesEachPlaceOnceAndGoesOnAfterARestore(ReleaseOrder order) {
    List<Long> whole = order(order, 5, 1, 6, 50);
    assertThat(whole).containsExactlyInAnyOrderElementsOf(LongStream.range(0, 50).boxed().toList());
    for (int cut = 0; cut <= 50; cut++) {
      ReleasePolicy policy = ReleasePolicy.start(order, 5, 1, 6, 50);
      TreeSet<Long> ready = new TreeSet<>(LongStream.range(0, 50).boxed().toList());
      release(policy, ready, cut);
      ReleasePolicy restored =
          ReleasePolicy.restore(order, 5, 1, 6, 50, policy.released(), policy.places());
      for (long place = 0; place < 50; place++) {
        assertThat(restored.isReleased(place)).isEqualTo(!ready.contains(place));
      }
      assertThat(release(restored, ready, 50 - cut)).isEqualTo(whole.subList(cut, 50));
    }
  }

  @Test
  void aStateThatCannotBeIsRefused() {
    assertThatThrownBy(
            () -> ReleasePolicy.restore(ReleaseOrder.SEEDED, 5, 0, 6, 50, 3, new long[] {4, 5}))
        .hasMessageContaining("2 candidates in a window of 6");
  }

  private static List<Long> order(ReleaseOrder order, long seed, int shard, int window, int size) {
    ReleasePolicy policy = ReleasePolicy.start(order, seed, shard, window, size);
    return release(policy, new TreeSet<>(LongStream.range(0, size).boxed().toList()), size);
  }

  private static List<Long> release(ReleasePolicy policy, TreeSet<Long> ready, int count) {
    List<Long> released = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      long place = policy.choose(ready);
      policy.release(place);
      ready.remove(place);
      released.add(place);
    }
    return released;
  }
}
