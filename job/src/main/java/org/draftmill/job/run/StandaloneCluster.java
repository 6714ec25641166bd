package org.draftmill.job.run;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.flink.client.deployment.StandaloneClusterId;
import org.apache.flink.client.deployment.executors.RemoteExecutor;
import org.apache.flink.client.program.rest.RestClusterClient;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.DeploymentOptions;
import org.apache.flink.configuration.ReadableConfig;

/** A running cluster that a client hands a job to, and what it says when it is asked before. */
public final class StandaloneCluster implements AutoCloseable {
  private static final long ANSWER_SECONDS = 60;

  private final RestClusterClient<StandaloneClusterId> client;

  private StandaloneCluster(RestClusterClient<StandaloneClusterId> client) {
    this.client = client;
  }

  /** Whether these options of a client are for one, whose TaskManagers were started for it. */
  public static boolean isMeantBy(ReadableConfig flink) {
    return RemoteExecutor.NAME.equals(flink.get(DeploymentOptions.TARGET));
  }

  /**
   * @param flink options of the client
   * @param complaint what it means that there is no way to ask
   */
  public static StandaloneCluster of(Configuration flink, String complaint) throws IOException {
    try {
      return new StandaloneCluster(
          new RestClusterClient<>(flink, StandaloneClusterId.getInstance()));
    } catch (Exception e) {
      throw new IOException(complaint, e);
    }
  }

  public RestClusterClient<StandaloneClusterId> client() {
    return client;
  }

  /**
   * Waits for an answer, though not for ever.
   *
   * @param coming from the {@link #client}
   * @param complaint what it means that there is none
   * @throws IOException with the complaint
   */
  public static <T> T answer(CompletableFuture<T> coming, String complaint)
      throws IOException, InterruptedException {
    try {
      return coming.get(ANSWER_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException | TimeoutException e) {
      throw new IOException(complaint, e);
    }
  }

  @Override
  public void close() {
    client.close();
  }
}
