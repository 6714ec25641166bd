package org.draftmill.job.slots;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.Function;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.DeploymentOptions;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.RestOptions;
import org.draftmill.compute.InputException;
import org.draftmill.job.TestingRuns;
import org.draftmill.job.embedded.EmbeddedCluster;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** GPUs that are counted and leased, though nothing computes on them: an embedded Flink's. */
class GpuSlotsITCase {
  private static final String LISTED = "flink.external-resources=gpu";
  private static final String AMOUNT = "flink.external-resource.gpu.amount=";

  @TempDir Path dir;

  @Test
  void aRunWhoseTargetsAndDraftersHaveAGpuEachTrainsToItsEnd() throws Exception {
    TestingRuns run = TestingRuns.in(dir, 12, true);

    TestingRuns.Result result = run.train(LISTED, AMOUNT + 4, "run.max-steps=1");

    assertThat(result.exitCode()).as(result.err()).isZero();
    assertThat(Files.exists(run.runDirectory().resolve("summary.json"))).isTrue();
    assertThat(System.getProperties().stringPropertyNames())
        .noneMatch(name -> name.matches("draftmill\\.gpu\\.\\d+\\.holder"));
  }

  @Test
  void aRunThatNeedsMoreGpusThanThereAreIsRefused() throws Exception {
    TestingRuns run = TestingRuns.in(dir, 12, true);

    TestingRuns.Result result = run.train(LISTED, AMOUNT + 3);

    assertThat(result.exitCode()).isEqualTo(2);
    assertThat(result.err())
        .contains("needs 4 GPUs (2 targets, 2 drafters), but this process may use 3: 1 missing");
  }

  @Test
  void aClusterIsAskedForItsSlotsAndGpus() throws Exception {
    Configuration settings = new Configuration();
    settings.setString("external-resources", "gpu");
    settings.setString("external-resource.gpu.amount", "4");
    try (EmbeddedCluster cluster = EmbeddedCluster.start(settings, 5, 0)) {
      Configuration client = clientOf(cluster.webUi());

      SlotDemand met = ClusterCheck.require(client, auto(2, 2), Duration.ofMinutes(5));
      assertThat(met.gpus()).isEqualTo(4);

      assertThatThrownBy(() -> ClusterCheck.require(client, auto(5, 3), Duration.ZERO))
          .isInstanceOf(InputException.class)
          .hasMessageContaining(
              "needs 8 GPUs (5 targets, 3 drafters), but the cluster has 4, 4 of them free, on 1"
                  + " TaskManager: 4 missing");
      assertThatThrownBy(
              () -> ClusterCheck.require(client, gpus -> demand(5, 3, false), Duration.ZERO))
          .isInstanceOf(InputException.class)
          .hasMessageContaining("needs 9 task slots (5 targets, 1 pool, 3 drafters)")
          .hasMessageContaining("the cluster has 5, 5 of them free, on 1 TaskManager: 4 missing");
    }
  }

  private static Configuration clientOf(URI cluster) {
    Configuration client = new Configuration();
    client.set(DeploymentOptions.TARGET, "remote");
    client.set(RestOptions.ADDRESS, cluster.getHost());
    client.set(RestOptions.PORT, cluster.getPort());
    return client;
  }

  private static Function<Boolean, SlotDemand> auto(int targets, int drafters) {
    return gpus -> demand(targets, drafters, gpus);
  }

  private static SlotDemand demand(int targets, int drafters, boolean gpus) {
    return new SlotDemand(
        new SlotDemand.Stage("target", targets, gpus, MemorySize.ofMebiBytes(10)),
        new SlotDemand.Stage("pool", 1, false, MemorySize.ofMebiBytes(10)),
        new SlotDemand.Stage("drafter", drafters, gpus, MemorySize.ofMebiBytes(10)));
  }
}
