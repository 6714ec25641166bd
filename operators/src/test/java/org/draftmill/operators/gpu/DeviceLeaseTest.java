package org.draftmill.operators.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.draftmill.compute.InputException;
import org.junit.jupiter.api.Test;

class DeviceLeaseTest {
  /** Names that no other test of this JVM leases. */
  private static final List<String> TWO_GPUS = List.of("lease-a", "lease-b");

  private static GpuClaim claim(String holder) {
    return new GpuClaim(holder, TWO_GPUS);
  }

  private static GpuClaim without() {
    return new GpuClaim("a subtask", List.of());
  }

  @Test
  void withoutGpusAutoIsTheHost() {
    try (DeviceLease lease = DeviceLease.take("auto", without())) {
      assertThat(lease.device()).isEqualTo("auto");
      assertThat(lease.gpu()).isEmpty();
    }
  }

  @Test
  void withoutGpusCudaIsRefused() {
    assertThatThrownBy(() -> DeviceLease.take("cuda", without()))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("has no GPU")
        .hasMessageContaining("external-resource.gpu.amount");
  }

  @Test
  void aNamedHostBackendTakesNoGpu() {
    for (String device : List.of("cpu", "reference")) {
      try (DeviceLease lease = DeviceLease.take(device, claim("host"))) {
        assertThat(lease.device()).isEqualTo(device);
        assertThat(lease.gpu()).isEmpty();
      }
    }
  }

  @Test
  void eachSubtaskOfAProcessGetsAnotherGpuAndGivesItBack() {
    DeviceLease first = DeviceLease.take("auto", claim("target (1/1)"));
    DeviceLease second = DeviceLease.take("cuda", claim("drafter (1/2)"));
    assertThat(first.gpu()).contains("lease-a");
    assertThat(second.gpu()).contains("lease-b");
    assertThatThrownBy(() -> DeviceLease.take("auto", claim("drafter (2/2)")))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("All 2 GPUs")
        .hasMessageContaining("lease-a: target (1/1); lease-b: drafter (1/2)");

    first.close();
    DeviceLease third = DeviceLease.take("auto", claim("drafter (2/2)"));
    assertThat(third.gpu()).contains("lease-a");
    first.close(); // has nothing any more: the third one keeps what it has
    assertThatThrownBy(() -> DeviceLease.take("auto", claim("late")))
        .hasMessageContaining("lease-a: drafter (2/2)");
    third.close();
    second.close();
  }

  @Test
  void anUnknownDeviceIsRefusedWithTheKnownOnes() {
    assertThatThrownBy(() -> DeviceLease.take("tpu", without()))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("'tpu'")
        .hasMessageContaining("auto, cuda, cpu, reference");
  }
}
