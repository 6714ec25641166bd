package org.draftmill.job.slots;

import static org.assertj.core.api.Assertions.assertThat;
import static org.draftmill.job.slots.SlotDemandTest.demand;

import java.util.List;
import org.draftmill.job.slots.ClusterResources.Worker;
import org.junit.jupiter.api.Test;

class ClusterResourcesTest {

  private static ClusterResources cluster(Worker... workers) {
    return new ClusterResources(List.of(workers));
  }

  @Test
  void enoughIsEnough() {
    assertThat(cluster(new Worker(9, 9, 0, 0, 9, 9000)).shortage(demand(false, false))).isEmpty();
    assertThat(cluster(new Worker(9, 9, 8, 8, 9, 7503)).shortage(demand(true, true))).isEmpty();
    Worker half = new Worker(5, 5, 4, 4, 5, 7200);
    assertThat(cluster(half, half).shortage(demand(true, true))).isEmpty();
  }

  @Test
  void saysHowManySlotsAreMissing() {
    Worker busy = new Worker(4, 1, 0, 0, 1, 9000);
    assertThat(cluster(busy, busy).shortage(demand(false, false)))
        .contains(
            "This run needs 9 task slots (5 targets, 1 pool, 3 drafters), but the cluster has 8,"
                + " 2 of them free, on 2 TaskManagers: 7 missing.");
  }

  @Test
  void saysHowManyGpusAreMissing() {
    assertThat(cluster(new Worker(9, 9, 4, 3, 9, 9000)).shortage(demand(true, true)))
        .contains(
            "This run needs 8 GPUs (5 targets, 3 drafters), but the cluster has 4, 3 of them free,"
                + " on 1 TaskManager: 5 missing.");
    assertThat(cluster().shortage(demand(false, true)))
        .contains(
            "This run needs 3 GPUs (3 drafters), but the cluster has 0, 0 of them free, on 0"
                + " TaskManagers: 3 missing.");
  }

  @Test
  void saysForWhichSlotThereIsNoRoom() {
    // GPUs for all, but the pool's 6000 MB are on neither side of them.
    Worker half = new Worker(5, 5, 4, 4, 5, 5000);
    assertThat(cluster(half, half).shortage(demand(true, true)))
        .contains(
            "This run needs 1 slot for its pool, each of 1 core, 6000 MB of task heap; 0 found"
                + " room, and what is left then is 1.0 cores, 3800 MB, 0 GPUs | 1.0 cores, 4697"
                + " MB, 0 GPUs.");
    assertThat(cluster(new Worker(4, 4, 8, 8, 4, 90000)).shortage(demand(true, true)))
        .hasValueSatisfying(
            sentence ->
                assertThat(sentence).contains("5 slots for its target").contains("4 found room"));
  }
}
