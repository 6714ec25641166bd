package org.draftmill.compute.drafter;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

class AnchorsTest {
  private static final byte[] MASK = {0, 1, 1, 1, 0, 1, 0, 1, 1, 1, 1};

  @Test
  void candidatesAreSupervisedPositionsBeforeSupervisedOnes() {
    assertThat(Anchors.draw(1, 0, 7, MASK, 0, MASK.length, 100)).containsExactly(1, 2, 7, 8, 9);
  }

  @Test
  void neverLooksAcrossTheEndOfTheDocument() {
    assertThat(Anchors.draw(1, 0, 7, MASK, 0, 9, 100)).containsExactly(1, 2, 7);
    assertThat(Anchors.draw(1, 0, 7, MASK, 2, 9, 100)).containsExactly(0, 5);
    assertThat(Anchors.draw(1, 0, 7, MASK, 1, 2, 100)).isEmpty();
    assertThat(Anchors.draw(1, 0, 7, MASK, 4, 7, 100)).isEmpty();
    assertThat(Anchors.draw(1, 0, 7, MASK, 3, 3, 100)).isEmpty();
  }

  @Test
  void dependsOnSeedEpochAndSequenceAlone() {
    byte[] mask = new byte[3000];
    Arrays.fill(mask, (byte) 1);
    int[] drawn = Anchors.draw(42, 3, 99, mask, 0, 1000, 64);
    assertThat(Anchors.draw(42, 3, 99, mask, 2000, 3000, 64)).isEqualTo(drawn);
    assertThat(Anchors.draw(42, 4, 99, mask, 0, 1000, 64)).isNotEqualTo(drawn);
    assertThat(Anchors.draw(42, 3, 98, mask, 0, 1000, 64)).isNotEqualTo(drawn);
    assertThat(Anchors.draw(43, 3, 99, mask, 0, 1000, 64)).isNotEqualTo(drawn);
    assertThat(drawn).hasSize(64).doesNotHaveDuplicates().isSorted();
  }

  @Test
  void drawsUniformly() {
    byte[] mask = new byte[21];
    Arrays.fill(mask, (byte) 1);
    int[] count = new int[20];
    int draws = 20_000;
    for (int sequence = 0; sequence < draws; sequence++) {
      for (int anchor : Anchors.draw(5, 0, sequence, mask, 0, 21, 5)) {
        count[anchor]++;
      }
    }
    // Each of 20 candidates is expected in a quarter of the draws: 5000 ± 61 (one deviation).
    assertThat(Arrays.stream(count)).allMatch(n -> Math.abs(n - draws / 4) < 300);
  }

  @Test
  void drawsTheSameInEveryVersion() {
    byte[] mask = new byte[200];
    Arrays.fill(mask, (byte) 1);
    assertThat(Anchors.draw(42, 1, 1234567890123L, mask, 0, 200, 6))
        .containsExactly(PINNED_ANCHORS);
  }

  private static final int[] PINNED_ANCHORS = {38, 58, 94, 103, 127, 153};
}
