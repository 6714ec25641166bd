package org.draftmill.compute.decoding;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class TokenBudgetTest {
  private final TokenBudget budget = new TokenBudget(List.of(8, 9), 3);

  @Test
  void endsAtTheLimit() {
    List.of(1, 2, 3, 4).forEach(budget::add);
    assertThat(budget.tokens()).containsExactly(1, 2, 3);
    assertThat(budget.isSpent()).isTrue();
    assertThat(budget.hasEnded()).isFalse();
  }

  @Test
  void endsWithTheText() {
    budget.add(1);
    assertThat(budget.isSpent()).isFalse();
    budget.add(9);
    assertThat(budget.tokens()).containsExactly(1, 9);
    assertThat(budget.isSpent()).isTrue();
    assertThat(budget.hasEnded()).isTrue();
  }
}
