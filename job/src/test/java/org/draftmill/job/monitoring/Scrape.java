package org.draftmill.job.monitoring;

import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.draftmill.job.monitoring.Dashboard.Selector;

/** What Flink's Prometheus reporter serves. */
record Scrape(List<Sample> samples) {
  private static final int PORTS = 50;
  private static final Pattern LINE = Pattern.compile("(\\w+)(?:\\{(.*)})? (\\S+)");
  private static final Pattern LABEL = Pattern.compile("(\\w+)=\"((?:[^\"\\\\]|\\\\.)*)\"");

  record Sample(String metric, Map<String, String> labels, double value) {
    boolean isSelectedBy(Selector selector) {
      return metric.equals(selector.metric())
          && selector.matchers().entrySet().stream()
              .allMatch(
                  matcher ->
                      matcher
                          .getValue()
                          .matcher(labels.getOrDefault(matcher.getKey(), ""))
                          .matches());
    }
  }

  /** The first of the ports that a reporter may choose from. */
  static int freePorts() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return Math.min(socket.getLocalPort(), 65_535 - PORTS);
    }
  }

  /** For the option {@code port} of the reporter. */
  static String range(int first) {
    return first + "-" + (first + PORTS);
  }

  /** From whichever of the ports serves metrics of the job; empty if none does yet. */
  static Scrape of(int first, String job) throws InterruptedException {
    HttpClient client = HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(5)).build();
    for (int port = first; port <= first + PORTS; port++) {
      URI uri = URI.create("http://localhost:" + port + "/metrics");
      HttpRequest request = HttpRequest.newBuilder(uri).timeout(Duration.ofSeconds(30)).build();
      try {
        String body = client.send(request, HttpResponse.BodyHandlers.ofString()).body();
        if (body.contains("job_name=\"" + job + "\"")) {
          return parse(body);
        }
      } catch (IOException e) {
        // nobody there, or somebody else
      }
    }
    return new Scrape(List.of());
  }

  static Scrape parse(String text) {
    List<Sample> samples = new ArrayList<>();
    for (String line : text.lines().filter(l -> !l.startsWith("#")).toList()) {
      Matcher sample = LINE.matcher(line);
      if (sample.matches()) {
        Map<String, String> labels = new HashMap<>();
        String braces = sample.group(2) == null ? "" : sample.group(2);
        for (Matcher label = LABEL.matcher(braces); label.find(); ) {
          labels.put(label.group(1), label.group(2));
        }
        String value = sample.group(3).replace("Inf", "Infinity");
        samples.add(new Sample(sample.group(1), labels, Double.parseDouble(value)));
      }
    }
    return new Scrape(samples);
  }

  List<Sample> select(Selector selector) {
    return samples.stream().filter(sample -> sample.isSelectedBy(selector)).toList();
  }
}
