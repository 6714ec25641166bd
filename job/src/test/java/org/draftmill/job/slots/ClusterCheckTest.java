package org.draftmill.job.slots;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.draftmill.job.slots.SlotDemandTest.demand;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.function.Function;
import org.apache.flink.configuration.Configuration;
import org.draftmill.compute.InputException;
import org.draftmill.job.slots.ClusterResources.Worker;
import org.junit.jupiter.api.Test;

class ClusterCheckTest {
  private static final Function<Boolean, SlotDemand> AUTO = gpus -> demand(gpus, gpus);
  private static final ClusterResources NONE = new ClusterResources(List.of());

  @Test
  void waitsForTaskManagersThatAreStarting() throws Exception {
    Deque<ClusterResources> answers = new ArrayDeque<>();
    answers.add(NONE);
    answers.add(new ClusterResources(List.of(new Worker(9, 9, 8, 8, 9, 9000))));
    SlotDemand met = ClusterCheck.await(() -> answers.remove(), true, AUTO, Duration.ofMinutes(5));
    assertThat(met.gpus()).isEqualTo(8);
  }

  @Test
  void waitsForAJobManagerThatIsStarting() throws Exception {
    Deque<ClusterCheck.Cluster> answers = new ArrayDeque<>();
    answers.add(
        () -> {
          throw new IOException("no leader yet");
        });
    answers.add(() -> new ClusterResources(List.of(new Worker(9, 9, 8, 8, 9, 9000))));
    ClusterCheck.Cluster cluster = () -> answers.remove().resources();
    assertThat(ClusterCheck.await(cluster, true, AUTO, Duration.ofMinutes(5)).gpus()).isEqualTo(8);

    ClusterCheck.Cluster gone =
        () -> {
          throw new IOException("nobody there");
        };
    assertThatThrownBy(() -> ClusterCheck.await(gone, true, AUTO, Duration.ZERO))
        .isInstanceOf(IOException.class)
        .hasMessage("nobody there");
  }

  @Test
  void autoTakesGpusThatOnlyTheClusterKnowsOf() throws Exception {
    ClusterResources gpus = new ClusterResources(List.of(new Worker(9, 9, 8, 8, 9, 9000)));
    assertThat(ClusterCheck.await(() -> gpus, false, AUTO, Duration.ZERO).gpus()).isEqualTo(8);
    ClusterResources none = new ClusterResources(List.of(new Worker(9, 9, 0, 0, 9, 9000)));
    assertThat(ClusterCheck.await(() -> none, false, AUTO, Duration.ZERO).gpus()).isZero();
  }

  @Test
  void refusesWhatIsStillMissingThen() {
    assertThatThrownBy(() -> ClusterCheck.await(() -> NONE, true, AUTO, Duration.ZERO))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("needs 8 GPUs")
        .hasMessageContaining("8 missing")
        .hasMessageContaining("run.wait-for-resources (now 0 s)");
  }

  @Test
  void aClusterThatStartsTaskManagersOnDemandIsNotAsked() throws Exception {
    Configuration kubernetes = new Configuration();
    kubernetes.setString("execution.target", "kubernetes-session");
    kubernetes.setString("external-resources", "gpu");
    kubernetes.setString("external-resource.gpu.amount", "8");
    assertThat(ClusterCheck.require(kubernetes, AUTO, Duration.ZERO).gpus()).isEqualTo(8);
  }

  @Test
  void anEmbeddedFlinkHasTheGpusThatItsOptionsState() {
    Configuration flink = new Configuration();
    assertThatThrownBy(() -> ClusterCheck.requireEmbedded(flink, demand(true, true)))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("needs 8 GPUs (5 targets, 3 drafters)")
        .hasMessageContaining("flink.external-resource.gpu.amount");
    flink.setString("external-resources", "gpu");
    flink.setString("external-resource.gpu.amount", "8");
    assertThatCode(() -> ClusterCheck.requireEmbedded(flink, demand(true, true)))
        .doesNotThrowAnyException();
    assertThatCode(() -> ClusterCheck.requireEmbedded(new Configuration(), demand(false, false)))
        .doesNotThrowAnyException();
  }
}
