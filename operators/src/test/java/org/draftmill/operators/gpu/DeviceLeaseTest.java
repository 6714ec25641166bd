package org.draftmill.operators.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.apache.flink.api.common.externalresource.ExternalResourceInfo;
import org.draftmill.compute.InputException;
import org.junit.jupiter.api.Test;

class DeviceLeaseTest {
  private static final Set<ExternalResourceInfo> TWO_GPUS = Set.of(gpu("1"), gpu("0"));

  private static ExternalResourceInfo gpu(String index) {
    return new ExternalResourceInfo() {
      @Override
      public Optional<String> getProperty(String key) {
        return key.equals("index") ? Optional.of(index) : Optional.empty();
      }

      @Override
      public Collection<String> getKeys() {
        return List.of("index");
      }
    };
  }

  @Test
  void withoutGpusItIsTheHost() {
    try (DeviceLease lease = DeviceLease.take("auto", Set.of())) {
      assertThat(lease.backend()).isEqualTo("auto");
      assertThat(lease.gpu()).isEmpty();
    }
  }

  @Test
  void aNamedHostBackendTakesNoGpu() {
    try (DeviceLease lease = DeviceLease.take("reference", TWO_GPUS)) {
      assertThat(lease.backend()).isEqualTo("reference");
      assertThat(lease.gpu()).isEmpty();
    }
  }

  @Test
  void eachSubtaskOfAProcessGetsAnotherGpuAndGivesItBack() {
    DeviceLease first = DeviceLease.take("auto", TWO_GPUS);
    DeviceLease second = DeviceLease.take("auto", TWO_GPUS);
    assertThat(first.gpu()).contains("0");
    assertThat(second.gpu()).contains("1");
    assertThatThrownBy(() -> DeviceLease.take("auto", TWO_GPUS))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("All 2 GPUs");

    first.close();
    first.close();
    DeviceLease third = DeviceLease.take("auto", TWO_GPUS);
    assertThat(third.gpu()).contains("0");
    third.close();
    second.close();
  }

  @Test
  void anUnknownDeviceIsRefusedWithTheKnownOnes() {
    assertThatThrownBy(() -> DeviceLease.take("tpu", Set.of()))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("'tpu'")
        .hasMessageContaining("auto, cpu, reference");
  }
}
