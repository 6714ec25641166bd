package org.draftmill.box;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;

/** What the JobManager says of its cluster. */
final class RestApi {
  private static final Duration TIMEOUT = Duration.ofSeconds(10);
  private static final ObjectMapper JSON = new ObjectMapper();

  private final URI root;
  private final HttpClient http = HttpClient.newBuilder().connectTimeout(TIMEOUT).build();

  RestApi(Configuration flink) {
    root = URI.create("http://localhost:" + flink.get(RestOptions.PORT));
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
    return get("/overview")
        .map(
            json ->
                new Overview(
                    json.path("slots-total").asInt(),
                    json.path("slots-available").asInt(),
                    json.path("jobs-running").asInt()));
  }

  /** Names of the TaskManagers that have registered; none when nobody answers. */
  Set<String> taskManagers() throws InterruptedException {
    Set<String> names = new HashSet<>();
    get("/taskmanagers")
        .ifPresent(
            json -> json.path("taskmanagers").forEach(tm -> names.add(tm.path("id").asText())));
    return names;
  }

  private Optional<JsonNode> get(String path) throws InterruptedException {
    try {
      HttpResponse<String> response =
          http.send(
              HttpRequest.newBuilder(root.resolve(path)).timeout(TIMEOUT).build(),
              HttpResponse.BodyHandlers.ofString());
      return response.statusCode() == 200
          ? Optional.of(JSON.readTree(response.body()))
          : Optional.empty();
    } catch (IOException e) {
      return Optional.empty();
    }
  }
}
