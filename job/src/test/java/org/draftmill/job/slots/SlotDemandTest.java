package org.draftmill.job.slots;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Optional;
import org.apache.flink.api.common.operators.SlotSharingGroup;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.draftmill.compute.InputException;
import org.junit.jupiter.api.Test;

class SlotDemandTest {

  /** Of 5 targets, one pool and 3 drafters. */
  static SlotDemand demand(boolean targetGpus, boolean drafterGpus) {
    return new SlotDemand(
        new SlotDemand.Stage("target", 5, targetGpus, MemorySize.ofMebiBytes(300)),
        new SlotDemand.Stage("pool", 1, false, MemorySize.ofMebiBytes(6000)),
        new SlotDemand.Stage("drafter", 3, drafterGpus, MemorySize.ZERO));
  }

  @Test
  void withoutGpusSlotsAreEqualShares() {
    SlotDemand demand = demand(false, false);
    assertThat(demand.slots()).isEqualTo(9);
    assertThat(demand.gpus()).isZero();
    SlotSharingGroup target = demand.group(demand.target());
    assertThat(target.getName()).isEqualTo("target");
    assertThat(target.getCpuCores()).isEmpty();
    assertThat(target.getTaskHeapMemory()).isEmpty();
  }

  @Test
  void withGpusEverySlotSaysWhatItNeeds() {
    SlotDemand demand = demand(false, true);
    assertThat(demand.gpus()).isEqualTo(3);
    SlotSharingGroup pool = demand.group(demand.pool());
    assertThat(pool.getExternalResources()).isEmpty();
    assertThat(pool.getTaskHeapMemory()).isEqualTo(Optional.of(MemorySize.ofMebiBytes(6000)));
    SlotSharingGroup drafter = demand.group(demand.drafter());
    assertThat(drafter.getExternalResources()).containsEntry("gpu", 1.0);
    assertThat(drafter.getCpuCores()).contains(1.0);
    assertThat(drafter.getTaskHeapMemory()).isEqualTo(Optional.of(MemorySize.ofMebiBytes(1)));
  }

  @Test
  void anAdaptiveSchedulerIsRefusedWhereGpusAreNeeded() {
    Configuration adaptive = new Configuration();
    adaptive.setString("jobmanager.scheduler", "adaptive");
    assertThatThrownBy(() -> demand(true, true).requireScheduler(adaptive))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("Set jobmanager.scheduler to Default");
    Configuration reactive = new Configuration();
    reactive.setString("scheduler-mode", "reactive");
    assertThatThrownBy(() -> demand(false, true).requireScheduler(reactive))
        .isInstanceOf(InputException.class);

    assertThatCode(() -> demand(false, false).requireScheduler(adaptive))
        .doesNotThrowAnyException();
    assertThatCode(() -> demand(true, true).requireScheduler(new Configuration()))
        .doesNotThrowAnyException();
  }
}
