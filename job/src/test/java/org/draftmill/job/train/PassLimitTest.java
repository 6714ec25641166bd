package org.draftmill.job.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.draftmill.compute.InputException;
import org.junit.jupiter.api.Test;

class PassLimitTest {
  /** Twelve microbatches of 49,152 tokens, every one of which may begin a block of 16. */
  private static final PassLimit.Step LARGE = new PassLimit.Step(49_152, 400, 16, 512, 16_384, 12);

  @Test
  void countsFullPassesOfTheLargestJobs() {
    assertThat(LARGE.passes()).isEqualTo(12 * 48);
    PassLimit.require(LARGE);
  }

  @Test
  void thereAreNoMorePassesThanDocumentsNorBlocksThanAnchors() {
    assertThat(new PassLimit.Step(49_152, 3, 16, 100_000, 1_024, 12).passes()).isEqualTo(12 * 3);
    assertThat(new PassLimit.Step(49_152, 400, 16, 1, 1_024, 12).passes()).isEqualTo(12 * 7);
  }

  @Test
  void aStepThatIsTooLargeIsRefusedWithTheOptions() {
    assertThatThrownBy(
            () -> PassLimit.require(new PassLimit.Step(49_152, 400, 16, 512, 16_384, 24)))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("1152 passes")
        .hasMessageContaining("raise drafter.pass-rows = 16384")
        .hasMessageContaining("drafter.accumulation = 24");
  }
}
