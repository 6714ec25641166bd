package org.draftmill.job.balance;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class BalanceReportTest {
  private static Balance balance(long steps, double seconds) {
    return new Balance(
        new StageWork(5, 1_500_000, 500, 0, seconds),
        new StageWork(3, 1_500_000, 180, 7.5, seconds),
        12,
        steps);
  }

  @Test
  void saysWhoBoundsTheRunAndWhatToDo() {
    assertThat(BalanceReport.lines(balance(500, 105)))
        .containsExactly(
            "            devices  tokens/s each  together  busy",
            "  targets         5           3.0K     15.0K  95 %",
            "  drafters        3           8.0K     24.0K  57 %",
            "The targets bound the run: drafters have nothing to do 38 % of the time."
                + " Best for 8 devices: 6 targets and 2 drafters, 7 % more (up to 16.0K tokens/s).");
  }

  @Test
  void fewStepsAreNotTrusted() {
    assertThat(BalanceReport.lines(balance(42, 105)).get(0))
        .isEqualTo("Measured over 42 steps: trust it after some hundred.");
  }

  @Test
  void aRunThatIsSlowerThanItsSlowerStageIsHeldUpBySomethingElse() {
    assertThat(BalanceReport.lines(balance(500, 200)))
        .last()
        .asString()
        .startsWith("The run made 7.5K tokens/s, 50 % of that");
  }

  @Test
  void oneLineFitsALog() {
    assertThat(BalanceReport.line(balance(500, 105)))
        .startsWith("targets can do 15.0K tokens/s, drafters 24.0K. The targets bound the run")
        .doesNotContain("\n");
  }
}
