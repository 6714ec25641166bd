package org.draftmill.operators.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.util.List;
import org.draftmill.compute.InputException;
import org.draftmill.compute.cuda.CudaBackend;
import org.draftmill.compute.cuda.MatrixProducts;
import org.draftmill.compute.ops.Backend;
import org.junit.jupiter.api.Test;

class LeasedBackendTest {

  @Test
  void opensWhatWasAskedFor() {
    try (DeviceLease lease = DeviceLease.take("reference", new GpuClaim("t", List.of()));
        Backend backend = LeasedBackend.open(lease, 1, MatrixProducts.OWN)) {
      assertThat(backend.name()).isEqualTo("reference");
    }
  }

  @Test
  void opensTheVeryGpuThatIsLeasedOrSaysWhyNot() {
    assumeThat(CudaBackend.usable()).as("a CUDA driver").isFalse();
    try (DeviceLease lease = DeviceLease.take("cuda", new GpuClaim("t", List.of("731")))) {
      assertThatThrownBy(() -> LeasedBackend.open(lease, 1, MatrixProducts.OWN))
          .isInstanceOf(InputException.class);
    }
  }

  @Test
  void computesOnTheHostWhereNoGpuCanBeComputedOn() {
    assumeThat(CudaBackend.usable()).as("a CUDA driver").isFalse();
    for (List<String> gpus : List.of(List.<String>of(), List.of("732"))) {
      try (DeviceLease lease = DeviceLease.take("auto", new GpuClaim("t", gpus));
          Backend backend = LeasedBackend.open(lease, 1, MatrixProducts.OWN)) {
        assertThat(backend.name()).isEqualTo("cpu");
      }
    }
  }
}
