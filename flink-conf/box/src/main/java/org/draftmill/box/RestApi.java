package org.draftmill.box;

import java.io.IOException;
import java.net.URI;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.configuration.SecurityOptions;
import org.apache.flink.runtime.rest.RestClient;
import org.apache.flink.runtime.rest.messages.ClusterOverviewHeaders;
import org.apache.flink.runtime.rest.messages.EmptyMessageParameters;
import org.apache.flink.runtime.rest.messages.EmptyRequestBody;
import org.apache.flink.runtime.rest.messages.MessageHeaders;
import org.apache.flink.runtime.rest.messages.ResponseBody;
import org.apache.flink.runtime.rest.messages.taskmanager.TaskManagersHeaders;
import org.apache.flink.util.ConfigurationException;
import org.apache.flink.util.concurrent.Executors;

/**
 * What the JobManager says of its cluster, asked by Flink's own client: with the keys of the
 * configuration where the cluster asks for some.
 */
final class RestApi implements AutoCloseable {
  private static final long TIMEOUT_SECONDS = 10;
  private static final String HOST = "localhost";

  private final URI root;
  private final RestClient client;

  RestApi(Configuration flink) {
    String scheme = flink.get(SecurityOptions.SSL_REST_ENABLED) ? "https" : "http";
    root = URI.create(scheme + "://" + HOST + ":" + flink.get(RestOptions.PORT));
    try {
      client = new RestClient(flink, Executors.directExecutor());
    } catch (ConfigurationException e) {
      throw BoxException.unusable(
          "The configuration does not tell how to reach the JobManager: %s", e.getMessage());
    }
  }

  URI root() {
    return root;
  }

  /**
   * @param slotsFree of all {@code slots}
   */
  record Overview(int slots, int slotsFree, int jobsRunning) {}

  /** Empty when nobody answers, or not yet. */
  Optional<Overview> overview() throws InterruptedException {
    return get(ClusterOverviewHeaders.getInstance())
        .map(
            overview ->
                new Overview(
                    overview.getNumSlotsTotal(),
                    overview.getNumSlotsAvailable(),
                    overview.getNumJobsRunningOrPending()));
  }

  /** Names of the TaskManagers that have registered; none when nobody answers. */
  Set<String> taskManagers() throws InterruptedException {
    return get(TaskManagersHeaders.getInstance())
        .map(
            all ->
                all.getTaskManagerInfos().stream()
                    .map(one -> one.getResourceId().getResourceIdString())
                    .collect(Collectors.toSet()))
        .orElse(Set.of());
  }

  private <T extends ResponseBody> Optional<T> get(
      MessageHeaders<EmptyRequestBody, T, EmptyMessageParameters> what)
      throws InterruptedException {
    try {
      return Optional.of(
          client.sendRequest(HOST, root.getPort(), what).get(TIMEOUT_SECONDS, TimeUnit.SECONDS));
    } catch (IOException | ExecutionException | TimeoutException e) {
      return Optional.empty();
    }
  }

  @Override
  public void close() {
    client.closeAsync().join();
  }
}
