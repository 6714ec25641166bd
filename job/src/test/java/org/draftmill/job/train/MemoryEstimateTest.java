package org.draftmill.job.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.OptionalLong;
import org.draftmill.compute.InputException;
import org.draftmill.job.train.MemoryEstimate.Item;
import org.junit.jupiter.api.Test;

class MemoryEstimateTest {
  private static final long GB = 1L << 30;

  private final MemoryEstimate estimate =
      new MemoryEstimate(
          List.of(
              new Item("targets", "2 × 1.0 GB", 2 * GB, "target.parallelism"),
              new Item("pool", "60 × 0.1 GB", 6 * GB, "pool.max-ready or pool.max-memory")),
          List.of(new Item("drafter", "on its GPU", 20 * GB, "drafter.layers")),
          4 * GB);

  @Test
  void whatFitsIsLetPass() {
    estimate.requireFit(8 * GB, OptionalLong.of(20 * GB), 4 * GB);

    assertThat(estimate.table(9 * GB))
        .containsExactly(
            "  targets                    2 × 1.0 GB   2.0 GB",
            "  pool                      60 × 0.1 GB   6.0 GB",
            "  memory            of 9.0 GB there are   8.0 GB",
            "  GPU                   of each drafter  20.0 GB",
            "  disk     checkpoints, states, exports   4.0 GB");
  }

  @Test
  void whatCannotFitIsRefusedWithTheLargestPart() {
    assertThatThrownBy(() -> estimate.requireFit(7 * GB, OptionalLong.empty(), 4 * GB))
        .isInstanceOf(InputException.class)
        .hasMessageStartingWith(
            "This run needs about 8.0 GB of memory where 7.0 GB are there. The largest part is pool"
                + " (6.0 GB): lower pool.max-ready or pool.max-memory");
    assertThatThrownBy(() -> estimate.requireFit(8 * GB, OptionalLong.empty(), 3 * GB))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("checkpoint.keep");
    assertThatThrownBy(() -> estimate.requireFit(8 * GB, OptionalLong.of(16 * GB), 4 * GB))
        .isInstanceOf(InputException.class)
        .hasMessage(
            "A drafter needs about 20.0 GB of its GPU's memory, and the smallest GPU has 16.0 GB:"
                + " lower drafter.layers.");
  }
}
