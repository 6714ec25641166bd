package org.draftmill.job.cluster;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * What a {@link TestingCluster} is started with. Its processes are small, so that several fit
 * beside each other, and notice within seconds that one of them died.
 *
 * @param arguments of {@code local-cluster.sh start}
 * @param environment of its processes, beside that of the test
 */
public record ClusterSpec(List<String> arguments, Map<String, String> environment) {
  public ClusterSpec {
    arguments = List.copyOf(arguments);
    environment = Map.copyOf(environment);
  }

  /**
   * @param slots of each TaskManager
   */
  public static ClusterSpec of(int taskManagers, int slots) {
    return new ClusterSpec(
            List.of(
                "--task-managers",
                Integer.toString(taskManagers),
                "--slots",
                Integer.toString(slots),
                "--port",
                "0",
                "--timeout",
                "240"),
            Map.of())
        .with("jobmanager.memory.process.size", "1100m")
        .with("taskmanager.memory.process.size", "2g")
        .with("taskmanager.memory.managed.size", "0m")
        .with("heartbeat.interval", "1s")
        .with("heartbeat.timeout", "30s")
        .with("web.refresh-interval", "1s")
        .with("metrics.fetcher.update-interval", "500ms");
  }

  /** With a ZooKeeper, so that a JobManager may die. */
  public ClusterSpec highlyAvailable() {
    return and("--ha");
  }

  /** With that many GPUs pretended on each TaskManager. */
  public ClusterSpec gpus(int count) {
    return and("--gpus", Integer.toString(count));
  }

  /** With a Flink option. */
  public ClusterSpec with(String key, String value) {
    return and("-D", key + "=" + value);
  }

  /** With more arguments of {@code local-cluster.sh start}. */
  public ClusterSpec and(String... more) {
    List<String> all = new ArrayList<>(arguments);
    all.addAll(List.of(more));
    return new ClusterSpec(all, environment);
  }

  /** With these environment variables. */
  public ClusterSpec in(Map<String, String> variables) {
    return new ClusterSpec(arguments, variables);
  }
}
