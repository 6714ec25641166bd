package org.draftmill.operators.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.flink.configuration.Configuration;
import org.junit.jupiter.api.Test;

class GpuClaimTest {

  @Test
  void flinkCountsGpusThatAreListedAndHaveAnAmount() {
    Configuration flink = new Configuration();
    assertThat(GpuResource.perTaskManager(flink)).isZero();
    flink.set(GpuResource.AMOUNT, 8L);
    assertThat(GpuResource.perTaskManager(flink)).isZero();
    flink.setString("external-resources", "fpga;gpu");
    assertThat(GpuResource.perTaskManager(flink)).isEqualTo(8);
    flink.setString("external-resources", "none");
    assertThat(GpuResource.perTaskManager(flink)).isZero();
  }
}
