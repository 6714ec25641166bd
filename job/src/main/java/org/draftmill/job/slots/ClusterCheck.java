package org.draftmill.job.slots;

import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Function;
import org.apache.flink.client.program.rest.RestClusterClient;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.runtime.rest.messages.EmptyMessageParameters;
import org.apache.flink.runtime.rest.messages.EmptyRequestBody;
import org.apache.flink.runtime.rest.messages.taskmanager.TaskManagersHeaders;
import org.draftmill.compute.InputException;
import org.draftmill.job.run.StandaloneCluster;
import org.draftmill.operators.gpu.GpuResource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether a cluster has the slots and GPUs of a run, before the run is handed to it. Flink itself
 * would wait for them until {@code slot.request.timeout}, and then not say what is missing.
 */
public final class ClusterCheck {
  private static final Logger LOG = LoggerFactory.getLogger(ClusterCheck.class);

  private static final Duration PAUSE = Duration.ofMillis(500);

  private ClusterCheck() {}

  /**
   * The demand that a cluster can meet.
   *
   * <p>A standalone cluster is asked; a JobManager and TaskManagers that are just starting are
   * waited for. One that starts TaskManagers on demand has none to ask for: there Flink's own
   * time-out decides.
   *
   * @param flink options of the client and, through them, of the cluster
   * @param demand for whether the cluster has GPUs
   * @param wait for what is missing
   * @throws InputException if the cluster has not enough, saying what is missing
   * @throws IOException if the cluster does not answer in that time
   */
  public static SlotDemand require(
      Configuration flink, Function<Boolean, SlotDemand> demand, Duration wait)
      throws IOException, InterruptedException {
    boolean configured = GpuResource.perTaskManager(flink) > 0;
    SlotDemand met =
        StandaloneCluster.isMeantBy(flink)
            ? ask(flink, configured, demand, wait)
            : demand.apply(configured);
    met.requireScheduler(flink);
    return met;
  }

  /**
   * Whether an embedded Flink, whose GPUs are those that its options state, has enough.
   *
   * @throws InputException if not
   */
  public static void requireEmbedded(ReadableConfig flink, SlotDemand demand) {
    int there = GpuResource.perTaskManager(flink);
    if (demand.gpus() > there) {
      throw new InputException(
          "This run needs %d GPUs (%s), but this process may use %d: %d missing. Say how many it has with flink.external-resources: [gpu] and flink.%s, or take another target.device or drafter.device."
              .formatted(
                  demand.gpus(),
                  demand.gpuUsers(),
                  there,
                  demand.gpus() - there,
                  GpuResource.AMOUNT.key()));
    }
  }

  private static SlotDemand ask(
      Configuration flink, boolean configured, Function<Boolean, SlotDemand> demand, Duration wait)
      throws IOException, InterruptedException {
    try (StandaloneCluster cluster =
        StandaloneCluster.of(flink, "There is no way to ask the cluster for its TaskManagers.")) {
      return await(() -> resources(cluster.client()), configured, demand, wait);
    }
  }

  private static ClusterResources resources(RestClusterClient<?> client)
      throws IOException, InterruptedException {
    return ClusterResources.of(
        StandaloneCluster.answer(
            client.sendRequest(
                TaskManagersHeaders.getInstance(),
                EmptyMessageParameters.getInstance(),
                EmptyRequestBody.getInstance()),
            "The cluster at %s does not say which TaskManagers it has: is its JobManager running?"
                .formatted(URI.create(client.getWebInterfaceURL()))));
  }

  /** Tells what a cluster has. */
  interface Cluster {
    ClusterResources resources() throws IOException, InterruptedException;
  }

  static SlotDemand await(
      Cluster cluster, boolean configured, Function<Boolean, SlotDemand> demand, Duration wait)
      throws IOException, InterruptedException {
    long deadline = System.nanoTime() + wait.toNanos();
    boolean said = false;
    while (true) {
      ClusterResources resources;
      try {
        resources = cluster.resources();
      } catch (IOException e) { // a JobManager that is just starting, say
        if (System.nanoTime() - deadline >= 0) {
          throw e;
        }
        Thread.sleep(PAUSE.toMillis());
        continue;
      }
      SlotDemand wanted = demand.apply(configured || resources.haveGpus());
      Optional<String> shortage = resources.shortage(wanted);
      if (shortage.isEmpty()) {
        return wanted;
      }
      if (System.nanoTime() - deadline >= 0) {
        throw new InputException(
            shortage.get()
                + " Start more TaskManagers, lower target.parallelism, drafter.parallelism or"
                + " pool.max-memory, or wait longer with run.wait-for-resources (now "
                + wait.toSeconds()
                + " s).");
      }
      if (!said) {
        LOG.info("Waiting up to {} s for the cluster: {}", wait.toSeconds(), shortage.get());
        said = true;
      }
      Thread.sleep(PAUSE.toMillis());
    }
  }
}
