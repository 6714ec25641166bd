package org.draftmill.job.chaos;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.HeartbeatManagerOptions;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.RpcOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.runtime.highavailability.nonha.embedded.HaLeadershipControl;
import org.apache.flink.runtime.jobmaster.JobResult;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.streaming.api.graph.StreamGraph;

/** A Flink in this process whose parts can be killed one by one. */
final class ChaosCluster {
  private static final int TASK_MANAGERS = 3;

  private final MiniCluster cluster;
  private final List<Integer> living = new ArrayList<>();
  private final List<CompletableFuture<Void>> dying = new ArrayList<>();
  private int started;

  private ChaosCluster(MiniCluster cluster) {
    this.cluster = cluster;
  }

  /**
   * @param slots of all TaskManagers together, at least
   */
  static ChaosCluster start(int slots) throws Exception {
    Configuration flink = new Configuration();
    WatchedMetrics.addTo(flink);
    flink.set(HeartbeatManagerOptions.HEARTBEAT_TIMEOUT, Duration.ofMinutes(5));
    flink.set(RpcOptions.ASK_TIMEOUT_DURATION, Duration.ofMinutes(1));
    flink.set(CheckpointingOptions.MAX_RETAINED_CHECKPOINTS, 2);
    // So that none is idle, and whichever is killed, it hits.
    flink.set(
        TaskManagerOptions.TASK_MANAGER_LOAD_BALANCE_MODE,
        TaskManagerOptions.TaskManagerLoadBalanceMode.SLOTS);
    flink.set(TaskManagerOptions.MANAGED_MEMORY_SIZE, MemorySize.ofMebiBytes(8));
    MiniCluster cluster =
        new MiniCluster(
            new MiniClusterConfiguration.Builder()
                .setConfiguration(flink)
                .setNumTaskManagers(TASK_MANAGERS)
                .setNumSlotsPerTaskManager((slots + TASK_MANAGERS - 1) / TASK_MANAGERS)
                .setHaServices(MiniCluster.HaServices.WITH_LEADERSHIP_CONTROL)
                .withRandomPorts()
                .build());
    cluster.start();
    ChaosCluster chaos = new ChaosCluster(cluster);
    while (chaos.started < TASK_MANAGERS) {
      chaos.living.add(chaos.started++);
    }
    return chaos;
  }

  JobID submit(StreamGraph graph) throws Exception {
    graph.setJobId(JobID.generate());
    graph.serializeUserDefinedInstances();
    return cluster.submitJob(graph).get().getJobID();
  }

  JobStatus status(JobID job) throws Exception {
    return cluster.getJobStatus(job).get();
  }

  /** Waits for the end of a job, whatever it is. */
  JobResult result(JobID job) throws Exception {
    return cluster.requestJobResult(job).get();
  }

  String stopWithSavepoint(JobID job, String directory) throws Exception {
    return cluster
        .stopWithSavepoint(
            job, directory, false, org.apache.flink.core.execution.SavepointFormatType.NATIVE)
        .get();
  }

  void cancel(JobID job) throws Exception {
    cluster.cancelJob(job).get();
  }

  /** One TaskManager goes with all that runs on it, and another takes its place. */
  void killTaskManager(int choice) throws Exception {
    int index = living.remove(choice % living.size());
    dying.add(cluster.terminateTaskManager(index));
    cluster.startTaskManager();
    living.add(started++);
  }

  /** Waits until nothing is left of the TaskManagers that were killed. */
  void awaitDead() throws Exception {
    for (CompletableFuture<Void> end : dying) {
      end.get();
    }
    dying.clear();
  }

  /** The job's master goes; the next one begins with the last completed checkpoint. */
  void killJobMaster(JobID job) throws Exception {
    HaLeadershipControl control = cluster.getHaLeadershipControl().orElseThrow();
    control.revokeJobMasterLeadership(job).get();
    control.grantJobMasterLeadership(job).get();
  }

  void close() throws Exception {
    awaitDead();
    cluster.close();
  }
}
