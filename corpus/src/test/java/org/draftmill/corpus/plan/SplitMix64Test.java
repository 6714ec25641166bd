package org.draftmill.corpus.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

class SplitMix64Test {
  @Test
  void valuesOfAPathNeverChange() {
    SplitMix64 random = SplitMix64.of(42, 7, 0);

    long[] values = {random.nextLong(), random.nextLong(), random.nextLong()};

    assertThat(values)
        .containsExactly(7708143084584898698L, -3659651304930795044L, -8417553767005970097L);
  }

  @Test
  void pathsOfOtherOrderOrLengthDiffer() {
    assertThat(SplitMix64.of(1, 2).nextLong())
        .isNotEqualTo(SplitMix64.of(2, 1).nextLong())
        .isNotEqualTo(SplitMix64.of(1, 2, 0).nextLong())
        .isNotEqualTo(SplitMix64.of(0, 1, 2).nextLong());
  }

  @Test
  void boundedValuesAreUniform() {
    SplitMix64 random = SplitMix64.of(3);
    int[] counts = new int[7];
    for (int i = 0; i < 70_000; i++) {
      counts[random.nextInt(7)]++;
    }

    // 10,000 each with a standard deviation of 93.
    assertThat(Arrays.stream(counts)).allMatch(count -> Math.abs(count - 10_000) < 5 * 93);
  }

  @Test
  void shuffleReachesEveryOrderAlike() {
    int[] counts = new int[6];
    for (int seed = 0; seed < 6_000; seed++) {
      int[] values = {0, 1, 2};
      SplitMix64.of(seed).shuffle(values);
      counts[values[0] * 2 + (values[1] > values[2] ? 1 : 0)]++;
    }

    // 1,000 each with a standard deviation of 29.
    assertThat(Arrays.stream(counts)).allMatch(count -> Math.abs(count - 1_000) < 5 * 29);
  }

  @Test
  void aBoundMustBePositive() {
    assertThatThrownBy(() -> SplitMix64.of(1).nextInt(0))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
