package org.draftmill.benchmarks;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import org.apache.flink.api.common.JobID;

/** Flink's REST interface, for one job: takes checkpoints and says how they went. */
final class FlinkRest {
  private static final long PAUSE_MILLIS = 20;
  private static final Duration PATIENCE = Duration.ofMinutes(5);

  private final HttpClient client = HttpClient.newHttpClient();
  private final ObjectMapper json = new ObjectMapper();
  private final URI address;
  private final String job;

  FlinkRest(URI address, JobID job) {
    this.address = address;
    this.job = "/jobs/" + job;
  }

  /**
   * How a stage took part in a checkpoint.
   *
   * @param syncMillis how long its thread was held up, at most over its subtasks
   * @param asyncMillis how long its state was then written beside the stream
   */
  record StageCheckpoint(long bytes, long syncMillis, long asyncMillis) {}

  /**
   * Takes a checkpoint, waits until it is complete, and says what it was for the stage. One fails
   * while a task is not ready yet: then another one is taken.
   */
  StageCheckpoint checkpoint(String stage) throws IOException, InterruptedException {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    JsonNode state = taken();
    while (!state.path("operation").has("checkpointId")) {
      if (System.nanoTime() - deadline > 0) {
        throw new IOException("The checkpoint failed: " + state);
      }
      state = taken();
    }
    JsonNode checkpoint =
        get(
            "%s/checkpoints/details/%s/subtasks/%s"
                .formatted(
                    job, state.path("operation").path("checkpointId").asText(), vertex(stage)));
    JsonNode duration = checkpoint.path("summary").path("checkpoint_duration");
    return new StageCheckpoint(
        checkpoint.path("state_size").asLong(),
        duration.path("sync").path("max").asLong(),
        duration.path("async").path("max").asLong());
  }

  private JsonNode taken() throws IOException, InterruptedException {
    String request =
        post(job + "/checkpoints", "{\"checkpointType\": \"FULL\"}").path("request-id").asText();
    JsonNode state;
    do {
      Thread.sleep(PAUSE_MILLIS);
      state = get(job + "/checkpoints/" + request);
    } while (!state.path("status").path("id").asText().equals("COMPLETED"));
    return state;
  }

  private String vertex(String stage) throws IOException, InterruptedException {
    for (JsonNode vertex : get(job).path("vertices")) {
      if (vertex.path("name").asText().startsWith(stage)) {
        return vertex.path("id").asText();
      }
    }
    throw new IOException("The job has no stage " + stage + ".");
  }

  private JsonNode get(String path) throws IOException, InterruptedException {
    return send(HttpRequest.newBuilder(address.resolve(path)).build());
  }

  private JsonNode post(String path, String body) throws IOException, InterruptedException {
    BodyPublisher publisher = BodyPublishers.ofString(body);
    return send(
        HttpRequest.newBuilder(address.resolve(path))
            .header("Content-Type", "application/json")
            .POST(publisher)
            .build());
  }

  private JsonNode send(HttpRequest request) throws IOException, InterruptedException {
    HttpResponse<String> response = client.send(request, BodyHandlers.ofString());
    if (response.statusCode() / 100 != 2) {
      throw new IOException(
          "%s answered %d: %s".formatted(request.uri(), response.statusCode(), response.body()));
    }
    return json.readTree(response.body());
  }
}
