package org.draftmill.compute.target;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.draftmill.compute.InputException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TapsTest {
  @Test
  void spreadsEvenlyWithHalvesToEven() {
    assertThat(Taps.spread(36, 5).layers()).containsExactly(1, 9, 17, 25, 33);
    assertThat(Taps.spread(28, 5).layers()).containsExactly(1, 7, 13, 19, 25);
    // 1 + 25/2 = 13.5 goes up to 14, 1 + 23/2 = 12.5 down to 12
    assertThat(Taps.spread(29, 3).layers()).containsExactly(1, 14, 26);
    assertThat(Taps.spread(27, 3).layers()).containsExactly(1, 12, 24);
    assertThat(Taps.spread(6, 3).layers()).containsExactly(1, 2, 3);
    assertThat(Taps.spread(6, 1).layers()).containsExactly(3);
    assertThat(Taps.spread(1, 1).layers()).containsExactly(0);
  }

  @Test
  void refusesToSpreadOverTooFewLayers() {
    assertThatThrownBy(() -> Taps.spread(6, 5))
        .isInstanceOf(InputException.class)
        .hasMessageContainingAll("6 layers", "5 of them", "target.taps");
    assertThatThrownBy(() -> Taps.spread(3, 2)).isInstanceOf(InputException.class);
  }

  @Test
  void readsTheOption() {
    assertThat(Taps.parse("auto", 36, 5)).isEqualTo(Taps.of(1, 9, 17, 25, 33));
    assertThat(Taps.parse("1, 3,5", 6, 1)).isEqualTo(Taps.of(1, 3, 5));
    assertThat(Taps.of(1, 3, 5).last()).isEqualTo(5);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "1,", "x", "3,1", "1,1", "-1", "6", "1;2"})
  void refusesTapsThatAreNone(String option) {
    assertThatThrownBy(() -> Taps.parse(option, 6, 1))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("taps");
  }

  @Test
  void convertsToTheConventionThatCountsTheEmbedding() {
    assertThat(Taps.of(1, 9, 33).toHiddenStateIndices()).containsExactly(2, 10, 34);
    assertThat(Taps.ofHiddenStateIndices(List.of(2, 10, 34))).isEqualTo(Taps.of(1, 9, 33));
    assertThatThrownBy(() -> Taps.ofHiddenStateIndices(List.of(0)))
        .isInstanceOf(InputException.class);
  }
}
