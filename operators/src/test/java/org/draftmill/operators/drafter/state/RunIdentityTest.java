package org.draftmill.operators.drafter.state;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.draftmill.compute.InputException;
import org.junit.jupiter.api.Test;

class RunIdentityTest {
  private final RunIdentity stored = new RunIdentity(Map.of("run.seed", "42", "pool.window", "10"));

  @Test
  void theSameIsTheSameInAnyOrder() {
    RunIdentity now = new RunIdentity(Map.of()).with("pool.window", 10).with("run.seed", 42L);
    assertThatCode(() -> now.requireSameAs(stored)).doesNotThrowAnyException();
  }

  @Test
  void aDifferenceIsNamedWithBothValues() {
    assertThatThrownBy(() -> stored.with("pool.window", 12).requireSameAs(stored))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("a run with pool.window = 10, but this one has pool.window = 12");
    assertThatThrownBy(() -> stored.with("target.taps", "[1]").requireSameAs(stored))
        .hasMessageContaining("target.taps = nothing, but this one has target.taps = [1]");
  }
}
