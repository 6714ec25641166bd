package org.draftmill.job.flinkconf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.HeartbeatManagerOptions;
import org.apache.flink.configuration.JobManagerOptions;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.MetricOptions;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.RpcOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.configuration.WebOptions;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.streaming.api.graph.StreamGraph;
import org.awaitility.core.ThrowingRunnable;
import org.draftmill.job.slots.SlotDemand;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Where Flink puts the slots of the run that a configuration is sized for. */
class PlacementITCase {
  private static final Duration PATIENCE = Duration.ofMinutes(10);

  @TempDir Path scratch;

  private MiniCluster cluster;

  @AfterEach
  void close() throws Exception {
    cluster.close();
  }

  @Test
  void eachHostGetsItsShareOfEveryStage() throws Exception {
    FlinkConf conf = FlinkConf.all(scratch).get(2);
    start(resourcesOf(conf), conf.hosts());
    StreamGraph graph = standIn(demand(conf));
    cluster.submitJob(graph).get();

    eventually(() -> assertThat(free()).hasSize(conf.hosts()).containsOnly("0 GPUs, 0 cores"));
    // Slots are taken before tasks are in them.
    eventually(
        () ->
            assertThat(placement(graph.getJobID()))
                .hasSize(conf.hosts())
                .allSatisfy(
                    (host, stages) ->
                        assertThat(stages)
                            .containsExactly(
                                conf.targets() / conf.hosts(),
                                conf.pools() / conf.hosts(),
                                conf.drafters() / conf.hosts())));
  }

  @Test
  void slotsAreWaitedForWhileATaskManagerRestarts() throws Exception {
    FlinkConf conf = FlinkConf.all(scratch).get(1);
    Configuration settings = resourcesOf(conf);
    start(settings, 1);
    StreamGraph graph = standIn(demand(conf));
    JobID job = graph.getJobID();
    cluster.submitJob(graph).get();
    eventually(() -> assertThat(free()).containsExactly("0 GPUs, 0 cores"));
    cluster.terminateTaskManager(0).get();
    eventually(() -> assertThat(restarts(job)).isOne());
    cluster.startTaskManager();

    eventually(() -> assertThat(free()).containsExactly("0 GPUs, 0 cores"));
    assertThat(restarts(job)).isOne();
  }

  /** Whatever the cluster says, or does not say, until then. */
  private static void eventually(ThrowingRunnable assertion) {
    await().atMost(PATIENCE).ignoreExceptions().untilAsserted(assertion);
  }

  /** What is to be shared out, and how; the rest of the file is for other machines. */
  private static Configuration resourcesOf(FlinkConf conf) {
    Configuration settings = new Configuration();
    for (String key : conf.flink().keySet()) {
      if (key.matches("external-resource.*|slot\\..*|resourcemanager\\..*|.*load-balance.*")) {
        settings.setString(key, conf.flink().getString(key, ""));
      }
    }
    settings.removeKey("external-resource.gpu.driver-factory.class");
    settings.set(
        TaskManagerOptions.TASK_HEAP_MEMORY, conf.flink().get(TaskManagerOptions.TASK_HEAP_MEMORY));
    settings.set(
        TaskManagerOptions.NUM_TASK_SLOTS, conf.flink().get(TaskManagerOptions.NUM_TASK_SLOTS));
    settings.set(
        TaskManagerOptions.CPU_CORES, (double) conf.flink().get(TaskManagerOptions.NUM_TASK_SLOTS));
    settings.set(JobManagerOptions.SCHEDULER, conf.flink().get(JobManagerOptions.SCHEDULER));
    settings.set(RestOptions.BIND_PORT, "0");
    // A restart is told at once, and a machine that stands still breaks nothing off.
    settings.set(MetricOptions.METRIC_FETCHER_UPDATE_INTERVAL, Duration.ofMillis(200));
    settings.set(WebOptions.REFRESH_INTERVAL, Duration.ofMillis(200));
    settings.set(HeartbeatManagerOptions.HEARTBEAT_TIMEOUT, PATIENCE);
    settings.set(RpcOptions.ASK_TIMEOUT_DURATION, PATIENCE);
    return settings;
  }

  private void start(Configuration settings, int taskManagers) throws Exception {
    cluster =
        new MiniCluster(
            new MiniClusterConfiguration.Builder()
                .setConfiguration(settings)
                .setNumTaskManagers(taskManagers)
                .setNumSlotsPerTaskManager(settings.get(TaskManagerOptions.NUM_TASK_SLOTS))
                .build());
    cluster.start();
  }

  /** Three microbatches of 1.9 GiB each; a drafter's part of the state of a billion weights. */
  private static SlotDemand demand(FlinkConf conf) {
    MemorySize inFlight = MemorySize.parse("5760m");
    MemorySize state = MemorySize.parse("9g");
    return new SlotDemand(
        new SlotDemand.Stage("target", conf.targets(), true, inFlight),
        new SlotDemand.Stage("pool", conf.pools(), false, MemorySize.parse("64g")),
        new SlotDemand.Stage("drafter", conf.drafters(), true, inFlight.add(state)));
  }

  /** A job with the stages' slots and nothing else of them; it has no end. */
  private static StreamGraph standIn(SlotDemand demand) {
    Configuration job = new Configuration();
    job.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
    job.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, 1);
    job.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, Duration.ofSeconds(1));
    StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(job);
    env.fromSequence(1, Long.MAX_VALUE)
        .setParallelism(demand.target().slots())
        .slotSharingGroup(demand.group(demand.target()))
        .filter(number -> slowly())
        .setParallelism(demand.target().slots())
        .slotSharingGroup(demand.group(demand.target()))
        .rebalance()
        .map(number -> number)
        .setParallelism(demand.pool().slots())
        .slotSharingGroup(demand.group(demand.pool()))
        .rebalance()
        .map(number -> number)
        .setParallelism(demand.drafter().slots())
        .slotSharingGroup(demand.group(demand.drafter()))
        .sinkTo(new DiscardingSink<>())
        .setParallelism(demand.drafter().slots())
        .slotSharingGroup(demand.group(demand.drafter()));
    StreamGraph graph = env.getStreamGraph();
    graph.setJobId(JobID.generate());
    try {
      graph.serializeUserDefinedInstances();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
    return graph;
  }

  /** Leaves the processor to the test: the source has no end, and nothing waits for its numbers. */
  private static boolean slowly() throws InterruptedException {
    Thread.sleep(20);
    return false;
  }

  private List<String> free() {
    List<String> free = new ArrayList<>();
    for (JsonNode worker : get("/taskmanagers").path("taskmanagers")) {
      JsonNode resource = worker.path("freeResource");
      free.add(
          "%d GPUs, %d cores"
              .formatted(
                  resource.path("extendedResources").path("gpu").asInt(),
                  resource.path("cpuCores").asInt()));
    }
    return free;
  }

  /** How many subtasks of each stage a TaskManager has. */
  private Map<String, List<Integer>> placement(JobID job) {
    Map<String, List<Integer>> placement = new HashMap<>();
    for (JsonNode stage : get("/jobs/" + job).path("vertices")) {
      String workers =
          "/jobs/%s/vertices/%s/taskmanagers".formatted(job, stage.path("id").asText());
      for (JsonNode worker : get(workers).path("taskmanagers")) {
        int subtasks = 0;
        for (JsonNode inState : worker.path("status-counts")) {
          subtasks += inState.asInt();
        }
        placement
            .computeIfAbsent(worker.path("taskmanager-id").asText(), host -> new ArrayList<>())
            .add(subtasks);
      }
    }
    return placement;
  }

  private int restarts(JobID job) {
    JsonNode metrics = get("/jobs/" + job + "/metrics?get=numRestarts");
    return metrics.path(0).path("value").asInt();
  }

  private JsonNode get(String path) {
    try {
      URI uri = cluster.getRestAddress().get().resolve(path);
      HttpResponse<String> response =
          HttpClient.newHttpClient()
              .send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString());
      return new ObjectMapper().readTree(response.body());
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }
}
