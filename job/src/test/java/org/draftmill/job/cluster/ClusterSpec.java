package org.draftmill.job.cluster;

import java.util.ArrayList;
import java.util.List;

/**
 * What a {@link TestingCluster} is started with. Its processes are small, so that several fit
 * beside each other, and notice within seconds that one of them died.
 *
 * @param arguments of {@code local-cluster.sh start}
 */
public record ClusterSpec(List<String> arguments) {
  public ClusterSpec {
    arguments = List.copyOf(arguments);
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
                "240"))
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
    return new ClusterSpec(all);
  }
}
