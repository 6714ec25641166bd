package org.draftmill.compute.decoding;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.draftmill.compute.decoding.Continuation.Round;
import org.junit.jupiter.api.Test;

class DecodingFiguresTest {
  private static final Continuation OWN = new Continuation(List.of(4, 5, 6, 7), List.of(), 2);
  private static final Continuation FAST =
      new Continuation(List.of(4, 5, 6, 7), List.of(new Round(2, 3)), 0.5);
  private static final Continuation SLOW =
      new Continuation(
          List.of(4, 5, 6, 7), List.of(new Round(0, 1), new Round(0, 1), new Round(1, 1)), 1.5);

  @Test
  void poolsRoundsAndAveragesPromptsApart() {
    DecodingFigures figures = DecodingFigures.of(List.of(OWN, OWN), List.of(FAST, SLOW), 2, true);
    assertThat(figures.newTokens()).isEqualTo(8);
    assertThat(figures.rounds()).isEqualTo(4);
    assertThat(figures.tauPooled()).isEqualTo(6.0 / 4);
    assertThat(figures.tauMeanOfMeans()).isEqualTo((3 + 1) / 2.0);
    assertThat(figures.acceptedBySlot()).containsExactly(2 / 4.0, 1 / 4.0);
    assertThat(figures.targetTokensPerSecond()).isEqualTo(2);
    assertThat(figures.speculativeTokensPerSecond()).isEqualTo(4);
    assertThat(figures.speedup()).isEqualTo(2);
    assertThat(figures.greedyEqual()).hasValue(true);
  }

  @Test
  void noticesADifferenceUnlessTokensWereDrawn() {
    Continuation other = new Continuation(List.of(4, 5, 6, 8), List.of(new Round(2, 3)), 1);
    assertThat(DecodingFigures.of(List.of(OWN), List.of(other), 2, true).greedyEqual())
        .hasValue(false);
    assertThat(DecodingFigures.of(List.of(OWN), List.of(other), 2, false).greedyEqual()).isEmpty();
  }

  @Test
  void countsPromptsThatEndAtOnce() {
    Continuation ended = new Continuation(List.of(9), List.of(), 0.1);
    DecodingFigures figures = DecodingFigures.of(List.of(ended), List.of(ended), 2, true);
    assertThat(figures.tauPooled()).isEqualTo(1);
    assertThat(figures.tauMeanOfMeans()).isEqualTo(1);
    assertThat(figures.acceptedBySlot()).containsExactly(0.0, 0.0);
  }

  @Test
  void givesTheNamesOfTheCommandLine() {
    assertThat(DecodingFigures.of(List.of(OWN), List.of(FAST), 2, false).toMap().keySet())
        .containsExactly(
            "prompts",
            "new_tokens",
            "rounds",
            "tau_pooled",
            "tau_mean_of_means",
            "accepted_by_slot",
            "greedy_equal",
            "speedup",
            "target_tokens_per_second",
            "speculative_tokens_per_second");
  }
}
