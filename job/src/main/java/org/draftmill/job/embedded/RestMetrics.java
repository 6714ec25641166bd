package org.draftmill.job.embedded;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.JobID;
import org.draftmill.compute.InputException;
import org.draftmill.job.balance.TargetLog;

/**
 * Reads the metrics of a job's stages through Flink's REST interface, the same that its web UI
 * shows. What cannot be had just now is simply absent: a vertex without subtasks yet, a metric not
 * reported yet.
 */
public final class RestMetrics {
  /** Metrics of the stages, as far as something here follows them. */
  public static final String POOL_READY = "draftmill.pool.readyMicrobatches";

  public static final String TARGET_TOKENS = "draftmill.target.tokens";
  public static final String TARGET_BUSY = "draftmill.target.busySeconds";

  private static final Duration TIMEOUT = Duration.ofSeconds(5);

  private final HttpClient client = HttpClient.newBuilder().connectTimeout(TIMEOUT).build();
  private final ObjectMapper json = new ObjectMapper();
  private final URI rest;
  private final JobID job;
  private List<String> vertices = List.of();

  public RestMetrics(URI rest, JobID job) {
    this.rest = rest;
    this.job = job;
  }

  /**
   * What all targets of a job that runs have done since they started.
   *
   * @throws InputException if no job of that name runs there
   */
  public static TargetLog.Total targets(URI rest, String jobName)
      throws IOException, InterruptedException {
    for (JsonNode job : new RestMetrics(rest, null).get("/jobs/overview").path("jobs")) {
      if (job.path("name").asText().equals(jobName)
          && job.path("state").asText().equals("RUNNING")) {
        RestMetrics metrics = new RestMetrics(rest, JobID.fromHexString(job.path("jid").asText()));
        Map<String, Double> sums = metrics.sums(List.of(TARGET_TOKENS, TARGET_BUSY));
        return new TargetLog.Total(
            sums.getOrDefault(TARGET_TOKENS, 0.0),
            sums.getOrDefault(TARGET_BUSY, 0.0),
            job.path("duration").asDouble() / 1000);
      }
    }
    throw new InputException("No job named \"%s\" runs at %s.".formatted(jobName, rest));
  }

  /**
   * The sum over all subtasks of every metric whose name ends with one of the suffixes, by suffix.
   */
  public Map<String, Double> sums(List<String> suffixes) throws IOException, InterruptedException {
    Map<String, Double> sums = new HashMap<>();
    for (String vertex : vertices()) {
      String metrics = "/jobs/" + job + "/vertices/" + vertex + "/subtasks/metrics";
      List<String> wanted = new ArrayList<>();
      for (JsonNode metric : get(metrics)) {
        String name = metric.path("id").asText();
        if (suffixes.stream().anyMatch(name::endsWith)) {
          wanted.add(name);
        }
      }
      if (wanted.isEmpty()) {
        continue;
      }
      String names = URLEncoder.encode(String.join(",", wanted), StandardCharsets.UTF_8);
      for (JsonNode metric : get(metrics + "?agg=sum&get=" + names)) {
        String name = metric.path("id").asText();
        for (String suffix : suffixes) {
          if (name.endsWith(suffix)) {
            sums.merge(suffix, metric.path("sum").asDouble(), Double::sum);
          }
        }
      }
    }
    return sums;
  }

  private List<String> vertices() throws IOException, InterruptedException {
    if (vertices.isEmpty()) {
      List<String> found = new ArrayList<>();
      get("/jobs/" + job).path("vertices").forEach(v -> found.add(v.path("id").asText()));
      vertices = List.copyOf(found);
    }
    return vertices;
  }

  private JsonNode get(String path) throws IOException, InterruptedException {
    HttpRequest request = HttpRequest.newBuilder(rest.resolve(path)).timeout(TIMEOUT).build();
    HttpResponse<String> response = client.send(request, HttpResponse.BodyHandlers.ofString());
    if (response.statusCode() != 200) {
      throw new IOException(path + " answered " + response.statusCode());
    }
    return json.readTree(response.body());
  }
}
