package org.draftmill.box;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.CoreOptions;
import org.apache.flink.configuration.HighAvailabilityOptions;
import org.apache.flink.configuration.JobManagerOptions;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BoxConfigTest {
  @TempDir Path dir;

  private Layout layout;
  private Path config;

  @BeforeEach
  void given() throws IOException {
    layout = new Layout(dir.resolve("my cluster"));
    Files.createDirectories(layout.conf());
    config =
        Files.writeString(
            dir.resolve("multi-host.yaml"),
            """
            jobmanager: {rpc: {address: head, port: 6123}}
            rest: {port: 0, address: head, bind-address: 0.0.0.0}
            taskmanager: {numberOfTaskSlots: 8}
            env: {java: {opts: {all: "-Da=1 --add-modules=jdk.incubator.vector"}}}
            """);
  }

  @Test
  void bindsEverythingToThisMachineAndKeepsTheRest() throws Exception {
    BoxConfig.write(layout, settings());

    Configuration flink = BoxConfig.of(layout);
    assertThat(flink.get(JobManagerOptions.ADDRESS)).isEqualTo("localhost");
    assertThat(flink.get(RestOptions.BIND_ADDRESS)).isEqualTo("localhost");
    assertThat(flink.get(RestOptions.PORT)).isPositive();
    assertThat(flink.get(JobManagerOptions.PORT)).isPositive();
    assertThat(flink.get(CheckpointingOptions.SAVEPOINT_DIRECTORY))
        .isEqualTo("file:" + layout.savepoints().toAbsolutePath());
    assertThat(flink.get(TaskManagerOptions.NUM_TASK_SLOTS)).isEqualTo(8);
    assertThat(flink.get(CoreOptions.FLINK_JVM_OPTIONS))
        .isEqualTo("-Da=1 --add-modules=jdk.incubator.vector");
  }

  @Test
  void optionsOfTheCommandGoBeforeTheFile() throws Exception {
    BoxConfig.write(layout, settings("taskmanager.numberOfTaskSlots=3", "a.b= it's: # odd "));

    Configuration flink = BoxConfig.of(layout);
    assertThat(flink.get(TaskManagerOptions.NUM_TASK_SLOTS)).isEqualTo(3);
    assertThat(flink.getString("a.b", "")).isEqualTo("it's: # odd");
  }

  @Test
  void highAvailabilityComesWithItsZooKeeper() throws Exception {
    BoxConfig.write(layout, settings(true));

    Configuration flink = BoxConfig.of(layout);
    assertThat(flink.get(HighAvailabilityOptions.HA_MODE)).isEqualTo("zookeeper");
    String quorum = flink.get(HighAvailabilityOptions.HA_ZOOKEEPER_QUORUM);
    assertThat(Files.readString(ZooKeeper.writeConfig(layout, flink)))
        .contains("clientPort=" + quorum.substring(quorum.indexOf(':') + 1));
  }

  @Test
  void aPortThatIsTakenIsRefusedWithTheRemedy() throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      assertThatThrownBy(
              () -> BoxConfig.write(layout, settings("rest.port=" + taken.getLocalPort())))
          .isInstanceOfSatisfying(
              BoxException.class, e -> assertThat(e.exitCode()).isEqualTo(BoxException.UNUSABLE))
          .hasMessageContainingAll(Integer.toString(taken.getLocalPort()), "--port N");
    }
  }

  @Test
  void whatCannotBeReadIsRefusedByName() throws Exception {
    assertThatThrownBy(() -> BoxConfig.write(layout, settings("slots")))
        .hasMessage("-Dslots is not of the form -Dkey=value.");
    Files.writeString(config, "a: [");
    assertThatThrownBy(() -> BoxConfig.write(layout, settings()))
        .isInstanceOf(BoxException.class)
        .hasMessageContaining(config.toString());
    Files.delete(config);
    assertThatThrownBy(() -> BoxConfig.write(layout, settings()))
        .hasMessageContainingAll("no Flink configuration", config.toString());
  }

  @Test
  void pretendedGpusAreFoundByTheScriptOfRealClusters() throws Exception {
    BoxConfig.write(layout, settings(false, Optional.of(2)));

    Configuration flink = BoxConfig.of(layout);
    assertThat(flink.getString("external-resources", "")).isEqualTo("gpu");
    String script = flink.getString("external-resource.gpu.param.discovery-script.path", "");
    Process discovery = new ProcessBuilder(script, "2", "null").redirectErrorStream(true).start();
    assertThat(new String(discovery.getInputStream().readAllBytes())).isEqualTo("0,1\n");
    assertThatThrownBy(() -> BoxConfig.write(layout, settings(false, Optional.of(0))))
        .hasMessage("--gpus 0 must be at least 1.");
  }

  private StartSettings settings(String... overrides) {
    return settings(false, overrides);
  }

  private StartSettings settings(boolean highAvailability, String... overrides) {
    return settings(highAvailability, Optional.empty(), overrides);
  }

  private StartSettings settings(
      boolean highAvailability, Optional<Integer> gpus, String... overrides) {
    return new StartSettings(
        new FlinkHome(dir),
        config,
        1,
        Optional.empty(),
        Optional.empty(),
        gpus,
        highAvailability,
        Optional.empty(),
        Duration.ofSeconds(1),
        List.of(overrides));
  }
}
