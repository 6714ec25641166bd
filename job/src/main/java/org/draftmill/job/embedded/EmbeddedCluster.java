package org.draftmill.job.embedded;

import java.net.URI;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.JobExecutionResult;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.HeartbeatManagerOptions;
import org.apache.flink.configuration.JobManagerOptions;
import org.apache.flink.configuration.MetricOptions;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.configuration.RpcOptions;
import org.apache.flink.configuration.WebOptions;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.streaming.api.graph.StreamGraph;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A whole Flink in this process, with its web UI. Closing stops everything that runs on it. */
public final class EmbeddedCluster implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(EmbeddedCluster.class);

  /** How many ports are tried from the given one on. */
  private static final int PORTS = 100;

  private final MiniCluster cluster;
  private final URI webUi;

  private EmbeddedCluster(MiniCluster cluster, URI webUi) {
    this.cluster = cluster;
    this.webUi = webUi;
  }

  /**
   * Starts a JobManager and one TaskManager.
   *
   * @param settings Flink's options; they go before the defaults set here
   * @param webPort of the web UI, or the first free one of those after it; 0 for any
   */
  public static EmbeddedCluster start(Configuration settings, int slots, int webPort)
      throws Exception {
    Configuration flink = new Configuration();
    flink.set(RestOptions.BIND_ADDRESS, "localhost");
    flink.set(
        RestOptions.BIND_PORT,
        webPort == 0 ? "0" : webPort + "-" + Math.min(65_535, webPort + PORTS));
    flink.set(WebOptions.SUBMIT_ENABLE, false);
    // The progress line and the web UI follow the stages second by second.
    flink.set(MetricOptions.METRIC_FETCHER_UPDATE_INTERVAL, Duration.ofMillis(500));
    // A process that is busy computing on every core answers late and is not dead for that.
    flink.set(HeartbeatManagerOptions.HEARTBEAT_TIMEOUT, Duration.ofMinutes(5));
    flink.set(RpcOptions.ASK_TIMEOUT_DURATION, Duration.ofMinutes(1));
    flink.set(JobManagerOptions.SCHEDULER, JobManagerOptions.SchedulerType.Default);
    flink.addAll(settings);
    MiniCluster cluster =
        new MiniCluster(
            new MiniClusterConfiguration.Builder()
                .setConfiguration(flink)
                .setNumTaskManagers(1)
                .setNumSlotsPerTaskManager(slots)
                .build());
    try {
      cluster.start();
      return new EmbeddedCluster(cluster, cluster.getRestAddress().get());
    } catch (Exception e) {
      cluster.close();
      throw e;
    }
  }

  /** Address of the web UI and of the REST interface. */
  public URI webUi() {
    return webUi;
  }

  /** Hands a job in; it runs from then on. */
  public JobID submit(StreamGraph graph) throws Exception {
    graph.setJobId(JobID.generate());
    graph.serializeUserDefinedInstances();
    try {
      return cluster.submitJob(graph).get().getJobID();
    } catch (ExecutionException e) {
      throw e.getCause() instanceof Exception cause ? cause : e;
    }
  }

  /**
   * Waits for the end of a job.
   *
   * @throws Exception what made it fail
   */
  public JobExecutionResult await(JobID job) throws Exception {
    return cluster.requestJobResult(job).get().toJobExecutionResult(getClass().getClassLoader());
  }

  /** Submits and waits. */
  public JobExecutionResult execute(StreamGraph graph) throws Exception {
    return await(submit(graph));
  }

  /**
   * Stops a job at a savepoint.
   *
   * @param directory for it, as Flink names it
   * @return where the savepoint lies
   */
  public String stopWithSavepoint(JobID job, String directory, long timeoutSeconds)
      throws Exception {
    return cluster
        .stopWithSavepoint(job, directory, false, SavepointFormatType.NATIVE)
        .get(timeoutSeconds, TimeUnit.SECONDS);
  }

  /** Ends a job where it stands, and waits until it has ended. */
  public void cancel(JobID job) throws Exception {
    cluster.cancelJob(job).get();
    cluster.requestJobResult(job).get();
  }

  @Override
  public void close() {
    try {
      cluster.close();
    } catch (Exception e) {
      LOG.warn("The embedded cluster did not close cleanly", e);
    }
  }
}
