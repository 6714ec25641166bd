package org.draftmill.job.monitoring;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/** What {@code flink-conf/grafana} asks Prometheus for. */
final class Dashboard {
  static final Path FOLDER = Path.of("..", "flink-conf", "grafana");

  private static final Pattern SELECTOR = Pattern.compile("(flink_\\w+)(?:\\{([^}]*)})?");
  private static final Pattern MATCHER = Pattern.compile("(\\w+)=(~?)\"([^\"]*)\"");
  private static final Pattern GROUPED = Pattern.compile("by \\(([\\w, ]+)\\)");
  private static final Pattern IN_LEGEND = Pattern.compile("\\{\\{(?:\\$labels\\.)?(\\w+)}}");

  private Dashboard() {}

  /**
   * The series that an expression selects.
   *
   * @param matchers by label: the regular expression that its value must match
   */
  record Selector(String metric, Map<String, Pattern> matchers) {}

  /**
   * An expression of a panel or an alert.
   *
   * @param legend with labels in double braces
   */
  record Query(String place, String expression, String legend) {
    List<Selector> selectors() {
      List<Selector> selectors = new ArrayList<>();
      for (Matcher found = SELECTOR.matcher(expression); found.find(); ) {
        Map<String, Pattern> matchers = new LinkedHashMap<>();
        String braces = found.group(2) == null ? "" : found.group(2);
        for (Matcher label = MATCHER.matcher(braces); label.find(); ) {
          String value = label.group(3).replace("$job", "draftmill.*");
          matchers.put(
              label.group(1),
              Pattern.compile(label.group(2).isEmpty() ? Pattern.quote(value) : value));
        }
        selectors.add(new Selector(found.group(1), matchers));
      }
      return selectors;
    }

    /** Labels that series are grouped or named by. */
    List<String> labels() {
      List<String> labels = new ArrayList<>();
      for (Matcher found = GROUPED.matcher(expression); found.find(); ) {
        labels.addAll(List.of(found.group(1).split(", *")));
      }
      for (Matcher found = IN_LEGEND.matcher(legend); found.find(); ) {
        labels.add(found.group(1));
      }
      return labels;
    }
  }

  static JsonNode json() throws IOException {
    return new ObjectMapper().readTree(FOLDER.resolve("dashboards/draftmill.json").toFile());
  }

  /** Of all panels. */
  static List<Query> queries() throws IOException {
    List<Query> queries = new ArrayList<>();
    for (JsonNode panel : json().path("panels")) {
      for (JsonNode target : panel.path("targets")) {
        queries.add(
            new Query(
                panel.path("title").asText(),
                target.path("expr").asText(),
                target.path("legendFormat").asText()));
      }
    }
    return queries;
  }

  /** Of all alerts; the legend is what they say. */
  @SuppressWarnings("unchecked")
  static List<Query> alerts() throws IOException {
    Map<String, Object> file =
        (Map<String, Object>)
            new Load(LoadSettings.builder().build())
                .loadFromString(Files.readString(FOLDER.resolve("alerts.yml")));
    List<Query> queries = new ArrayList<>();
    for (Map<String, Object> group : (List<Map<String, Object>>) file.get("groups")) {
      for (Map<String, Object> rule : (List<Map<String, Object>>) group.get("rules")) {
        Map<String, String> annotations = (Map<String, String>) rule.get("annotations");
        queries.add(
            new Query(
                (String) rule.get("alert"),
                (String) rule.get("expr"),
                annotations.get("summary") + " " + annotations.get("look")));
      }
    }
    return queries;
  }
}
