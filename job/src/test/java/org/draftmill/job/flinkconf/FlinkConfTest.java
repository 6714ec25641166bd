package org.draftmill.job.flinkconf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Properties;
import java.util.stream.Stream;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.CoreOptions;
import org.apache.flink.configuration.JobManagerOptions;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.runtime.clusterframework.TaskExecutorProcessSpec;
import org.apache.flink.runtime.clusterframework.TaskExecutorProcessUtils;
import org.apache.flink.runtime.jobmanager.JobManagerProcessUtils;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.core.config.AbstractConfiguration;
import org.apache.logging.log4j.core.config.properties.PropertiesConfigurationBuilder;
import org.draftmill.job.config.CheckpointOptions;
import org.draftmill.job.train.FlinkSettings;
import org.draftmill.operators.gpu.DeviceLease;
import org.draftmill.operators.gpu.GpuResource;
import org.draftmill.operators.pool.PoolOptions;
import org.draftmill.operators.target.TargetOptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The configurations that are shipped are ones that Flink takes, and that suit their runs. */
class FlinkConfTest {
  @TempDir static Path scratch;

  private static List<FlinkConf> all;
  private static FlinkKeys keys;

  @BeforeAll
  static void load() throws IOException {
    all = FlinkConf.all(scratch);
    keys = FlinkKeys.gather();
    assertThat(keys.size()).isGreaterThan(400);
  }

  static Stream<FlinkConf> all() {
    return all.stream();
  }

  static Stream<FlinkConf> withGpus() {
    return all.stream().filter(conf -> GpuResource.perTaskManager(conf.flink()) > 0);
  }

  @Test
  void keysAreKnownAsAWholeOrNotAtAll() {
    assertThat(keys.find("taskmanager.memory.process.size")).isPresent();
    assertThat(keys.find("external-resource.gpu.amount")).isPresent();
    assertThat(keys.find("metrics.reporter.prom.interval")).isPresent();
    for (String unknown :
        List.of(
            "taskmanager.memory.process.sizes",
            "external-resource.gpu.amounts",
            "external-resource.gpu.param.discovery-script",
            "metrics.reporter.prom.intervals",
            "amount")) {
      assertThat(keys.find(unknown)).as(unknown).isEmpty();
    }
  }

  @ParameterizedTest
  @MethodSource("all")
  void everyKeyIsOneThatFlinkKnowsWithAValueThatItTakes(FlinkConf conf) {
    assertThat(conf.flink().keySet())
        .isNotEmpty()
        .allSatisfy(key -> assertThat(keys.find(key)).as(key).isPresent());
    for (String key : conf.flink().keySet()) {
      ConfigOption<?> option = keys.find(key).orElseThrow();
      if (option.key().equals(key)) {
        assertThatCode(() -> conf.flink().get(option)).as(key).doesNotThrowAnyException();
      }
    }
  }

  @ParameterizedTest
  @MethodSource("all")
  void memoryAddsUp(FlinkConf conf) {
    TaskExecutorProcessSpec memory = TaskExecutorProcessUtils.processSpecFromConfig(conf.flink());
    assertThat(memory.getTotalProcessMemorySize())
        .isEqualTo(conf.flink().get(TaskManagerOptions.TOTAL_PROCESS_MEMORY));
    assertThat(memory.getManagedMemorySize()).isEqualTo(MemorySize.ZERO);
    assertThat(memory.getTaskHeapSize())
        .as("the pool's share and a third more")
        .isGreaterThan(
            conf.run().get(PoolOptions.MAX_MEMORY).multiply(4.0 / 3 * poolsOfAHost(conf)));
    assertThat(
            JobManagerProcessUtils.processSpecFromConfig(conf.flink()).getTotalProcessMemorySize())
        .isEqualTo(conf.flink().get(JobManagerOptions.TOTAL_PROCESS_MEMORY));
  }

  private static double poolsOfAHost(FlinkConf conf) {
    return (double) conf.run().get(PoolOptions.SHARDS) / conf.hosts();
  }

  @ParameterizedTest
  @MethodSource("withGpus")
  void networkBuffersHoldAChunkEachAndAreEnough(FlinkConf conf) {
    long segment = conf.flink().get(TaskManagerOptions.MEMORY_SEGMENT_SIZE).getBytes();
    assertThat(Long.bitCount(segment)).as("a power of two").isOne();
    assertThat(segment).isGreaterThanOrEqualTo(conf.run().get(TargetOptions.CHUNK_SIZE).getBytes());
    MemorySize network =
        TaskExecutorProcessUtils.processSpecFromConfig(conf.flink()).getNetworkMemSize();
    assertThat(network.getBytes()).isGreaterThanOrEqualTo(2 * segment * buffersOfAHost(conf));
  }

  /**
   * Two for each channel, eight more for each gate and partition; the host that has the log and the
   * dead letters, too.
   */
  private static int buffersOfAHost(FlinkConf conf) {
    int targets = conf.targets() / conf.hosts();
    int pools = conf.pools() / conf.hosts();
    int drafters = conf.drafters() / conf.hosts();
    int ofTargets = targets * (ends(conf.pools()) + ends(1));
    int ofPools = pools * (ends(conf.targets()) + ends(conf.drafters()));
    int ofDrafters = drafters * (ends(conf.pools()) + ends(1));
    return ofTargets + ofPools + ofDrafters + ends(conf.targets()) + ends(conf.drafters());
  }

  private static int ends(int channels) {
    return 2 * channels + 8;
  }

  @ParameterizedTest
  @MethodSource("all")
  void everyStageHasItsSlots(FlinkConf conf) {
    assertThat(conf.hosts() * conf.flink().get(TaskManagerOptions.NUM_TASK_SLOTS))
        .isEqualTo(conf.targets() + conf.pools() + conf.drafters());
  }

  @ParameterizedTest
  @MethodSource("withGpus")
  void everyTargetAndDrafterHasItsGpu(FlinkConf conf) {
    assertThat(conf.hosts() * GpuResource.perTaskManager(conf.flink()))
        .isEqualTo(conf.targets() + conf.drafters());
    assertThat(conf.run().get(TargetOptions.DEVICE)).isEqualTo(DeviceLease.CUDA);
    assertThat(conf.flink().get(JobManagerOptions.SCHEDULER))
        .isEqualTo(JobManagerOptions.SchedulerType.Default);
  }

  @ParameterizedTest
  @MethodSource("all")
  void whatDraftmillReliesOnIsSet(FlinkConf conf) {
    Configuration flink = conf.flink();
    assertThat(flink.get(CoreOptions.FLINK_JVM_OPTIONS))
        .contains("--add-modules=jdk.incubator.vector")
        .contains("--add-opens=java.base/java.nio=ALL-UNNAMED")
        .contains("--add-opens=java.base/java.util=ALL-UNNAMED");
    assertThatCode(() -> FlinkSettings.requireAligned(flink)).doesNotThrowAnyException();
    assertThat(flink.get(CheckpointingOptions.MAX_RETAINED_CHECKPOINTS))
        .isEqualTo(CheckpointOptions.KEEP.defaultValue());
    assertThat(flink.get(JobManagerOptions.SLOT_REQUEST_TIMEOUT))
        .isLessThan(java.time.Duration.ofMinutes(1));
  }

  @ParameterizedTest
  @ValueSource(strings = {"log4j.properties", "log4j-console.properties", "log4j-cli.properties"})
  void loggingIsUnderstoodAndQuietWhereFlinkIsNoisy(String name) throws IOException {
    Properties properties = new Properties();
    try (var reader = Files.newBufferedReader(FlinkConf.FOLDER.resolve(name))) {
      properties.load(reader);
    }
    System.setProperty("log.file", scratch.resolve(name + ".log").toString());
    AbstractConfiguration logging =
        new PropertiesConfigurationBuilder().setRootProperties(properties).build();
    logging.initialize();
    assertThat(logging.getRootLogger().getLevel()).isEqualTo(Level.INFO);
    assertThat(logging.getAppenders()).containsKey("File");
    assertThat(logging.getLoggerConfig("org.apache.pekko.remote").getLevel()).isEqualTo(Level.WARN);
    assertThat(logging.getLoggerConfig("org.draftmill.job").getLevel()).isEqualTo(Level.INFO);
    assertThat(logging.getAppenders().containsKey("Console"))
        .isEqualTo(!name.equals("log4j.properties"));
  }

  @Test
  void fakedGpusAreListedAsThePluginExpects() throws Exception {
    assertThat(discover("4", "null")).isEqualTo("0,1,2,3");
    assertThat(discover("2", "--first", "8")).isEqualTo("8,9");
    assertThat(discover("0", "null")).isEmpty();
  }

  private static String discover(String... arguments) throws Exception {
    List<String> command =
        Stream.concat(
                Stream.of(FlinkConf.FOLDER.resolve("gpu/fake-gpu-discovery.sh").toString()),
                Stream.of(arguments))
            .toList();
    Process process = new ProcessBuilder(command).start();
    String out = new String(process.getInputStream().readAllBytes()).strip();
    assertThat(process.waitFor()).isZero();
    return out;
  }
}
