package org.draftmill.operators.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.draftmill.compute.ops.Backend;
import org.junit.jupiter.api.Test;

class LeasedBackendTest {

  @Test
  void opensWhatWasAskedFor() {
    try (DeviceLease lease = DeviceLease.take("reference", new GpuClaim("t", List.of()));
        Backend backend = LeasedBackend.open(lease, 1)) {
      assertThat(backend.name()).isEqualTo("reference");
    }
  }

  @Test
  void computesOnTheHostWhereNoGpuCanBeComputedOn() {
    for (List<String> gpus : List.of(List.<String>of(), List.of("no-such-gpu"))) {
      try (DeviceLease lease = DeviceLease.take("auto", new GpuClaim("t", gpus));
          Backend backend = LeasedBackend.open(lease, 1)) {
        assertThat(backend.name()).isEqualTo("cpu");
      }
    }
  }
}
