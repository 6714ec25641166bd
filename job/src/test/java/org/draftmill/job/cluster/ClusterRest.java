package org.draftmill.job.cluster;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.OptionalDouble;

/** What Flink's REST interface says of a cluster and its jobs. */
public final class ClusterRest {
  private static final Duration TIMEOUT = Duration.ofSeconds(30);
  private static final ObjectMapper JSON = new ObjectMapper();

  private final URI root;
  private final HttpClient http = HttpClient.newBuilder().connectTimeout(TIMEOUT).build();

  ClusterRest(URI root) {
    this.root = root;
  }

  /** Address of the web UI and of the interface. */
  public URI root() {
    return root;
  }

  /**
   * @param path with a leading slash
   * @throws IOException if nobody answers, or with another status than 200
   */
  public JsonNode get(String path) throws IOException {
    try {
      HttpResponse<byte[]> response =
          http.send(
              HttpRequest.newBuilder(root.resolve(path)).timeout(TIMEOUT).build(),
              HttpResponse.BodyHandlers.ofByteArray());
      if (response.statusCode() != 200) {
        throw new IOException(
            path + " answers " + response.statusCode() + ": " + new String(response.body()));
      }
      return JSON.readTree(response.body());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }

  /** State of each job that the cluster remembers, the latest one last. */
  public Map<String, String> jobs() throws IOException {
    Map<String, String> jobs = new LinkedHashMap<>();
    get("/jobs").path("jobs").forEach(job -> jobs.put(text(job, "id"), text(job, "status")));
    return jobs;
  }

  /** {@code RUNNING}, {@code RESTARTING}, {@code FINISHED} … */
  public String status(String job) throws IOException {
    return text(get("/jobs/" + job + "/status"), "status");
  }

  /** Whether every subtask of a job runs, which a job that is {@code RUNNING} need not have. */
  public boolean isRunning(String job) throws IOException {
    JsonNode description = get("/jobs/" + job);
    for (JsonNode vertex : description.path("vertices")) {
      if (vertex.path("tasks").path("RUNNING").asInt() < vertex.path("parallelism").asInt()) {
        return false;
      }
    }
    return text(description, "state").equals("RUNNING");
  }

  /** How often a job failed, up to the sixteen times that Flink remembers; also after its end. */
  public int failures(String job) throws IOException {
    return get("/jobs/" + job + "/exceptions").path("exceptionHistory").path("entries").size();
  }

  /** Checkpoints, and savepoints, that completed. */
  public long completedCheckpoints(String job) throws IOException {
    return get("/jobs/" + job + "/checkpoints").path("counts").path("completed").asLong();
  }

  /** Where the latest completed savepoint of a job lies, and empty when there is none. */
  public String latestSavepoint(String job) throws IOException {
    return text(
        get("/jobs/" + job + "/checkpoints").path("latest").path("savepoint"), "external_path");
  }

  /** What made the job fail or restart last. */
  public String exception(String job) throws IOException {
    return get("/jobs/" + job + "/exceptions").toPrettyString();
  }

  /**
   * A metric of a TaskManager, {@code Status.JVM.Memory.Metaspace.Used} say.
   *
   * @param member its name, as {@link TestingCluster#taskManagers()} has it
   */
  public OptionalDouble taskManagerMetric(String member, String name) throws IOException {
    return metric("/taskmanagers/" + member, name);
  }

  /** A metric of the JobManager. */
  public OptionalDouble jobManagerMetric(String name) throws IOException {
    return metric("/jobmanager", name);
  }

  /**
   * A metric of a stage, summed over its subtasks.
   *
   * @param stage part of the vertex' name, {@code drafter} say
   * @param name with its operator: {@code drafter.draftmill.drafter.steps}
   */
  public OptionalDouble stageMetric(String job, String stage, String name) throws IOException {
    for (JsonNode vertex : get("/jobs/" + job).path("vertices")) {
      if (text(vertex, "name").contains(stage)) {
        JsonNode values =
            get(
                "/jobs/%s/vertices/%s/subtasks/metrics?get=%s"
                    .formatted(job, text(vertex, "id"), name));
        return values.isEmpty()
            ? OptionalDouble.empty()
            : OptionalDouble.of(values.get(0).path("sum").asDouble());
      }
    }
    throw new IllegalArgumentException("no vertex of job " + job + " is named *" + stage + "*");
  }

  private OptionalDouble metric(String path, String name) throws IOException {
    JsonNode values = get(path + "/metrics?get=" + name);
    return values.isEmpty()
        ? OptionalDouble.empty()
        : OptionalDouble.of(values.get(0).path("value").asDouble());
  }

  private static String text(JsonNode node, String field) {
    return node.path(field).asText("");
  }
}
