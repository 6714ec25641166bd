package org.draftmill.job.monitoring;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;

/** What Grafana would stumble over, as far as it can be told without one. */
class DashboardTest {
  private static final int COLUMNS = 24;
  private static final Set<String> OF_GRAFANA = Set.of("__rate_interval");

  private static List<JsonNode> panels() throws IOException {
    return StreamSupport.stream(Dashboard.json().path("panels").spliterator(), false).toList();
  }

  @Test
  void panelsHaveIdsOfTheirOwnAndDoNotOverlap() throws IOException {
    Set<Integer> ids = new HashSet<>();
    Set<List<Integer>> cells = new HashSet<>();
    for (JsonNode panel : panels()) {
      String title = panel.path("title").asText();
      assertThat(ids.add(panel.path("id").asInt())).as(title).isTrue();
      JsonNode at = panel.path("gridPos");
      int right = at.path("x").asInt() + at.path("w").asInt();
      assertThat(right).as(title).isBetween(1, COLUMNS);
      for (int x = at.path("x").asInt(); x < right; x++) {
        for (int y = at.path("y").asInt(); y < at.path("y").asInt() + at.path("h").asInt(); y++) {
          assertThat(cells.add(List.of(x, y))).as("%s at column %d, row %d", title, x, y).isTrue();
        }
      }
    }
  }

  @Test
  void everyPanelSaysWhatItShowsAndInWhatUnit() throws IOException {
    for (JsonNode panel : panels()) {
      if (panel.path("type").asText().equals("row")) {
        continue;
      }
      String title = panel.path("title").asText();
      assertThat(panel.path("description").asText()).as(title).endsWith(".");
      assertThat(panel.at("/fieldConfig/defaults/unit").asText()).as(title).isNotEmpty();
      assertThat(panel.at("/datasource/uid").asText()).as(title).isEqualTo("${datasource}");
      Set<String> refs = new HashSet<>();
      for (JsonNode target : panel.path("targets")) {
        assertThat(refs.add(target.path("refId").asText())).as(title).isTrue();
        assertThat(target.at("/datasource/uid").asText()).as(title).isEqualTo("${datasource}");
      }
      assertThat(refs).as(title).isNotEmpty();
    }
  }

  @Test
  void overridesNameSeriesThatThePanelHas() throws IOException {
    for (JsonNode panel : panels()) {
      List<String> legends = panel.path("targets").findValuesAsText("legendFormat");
      for (JsonNode override : panel.at("/fieldConfig/overrides")) {
        assertThat(legends).contains(override.at("/matcher/options").asText());
      }
    }
  }

  @Test
  void everyVariableIsDeclared() throws IOException {
    List<String> declared = new ArrayList<>(OF_GRAFANA);
    Dashboard.json().at("/templating/list").forEach(v -> declared.add(v.path("name").asText()));
    Matcher used = Pattern.compile("\\$\\{?(\\w+)").matcher(Dashboard.json().toString());
    while (used.find()) {
      assertThat(declared).contains(used.group(1));
    }
  }

  @Test
  void parenthesesAndBracesOfEveryQueryMatch() throws IOException {
    List<Dashboard.Query> all = new ArrayList<>(Dashboard.queries());
    all.addAll(Dashboard.alerts());
    assertThat(all).hasSizeGreaterThan(40);
    for (Dashboard.Query query : all) {
      for (String pair : List.of("()", "{}", "[]")) {
        assertThat(query.expression().chars().filter(c -> c == pair.charAt(0)).count())
            .as("%s in %s: %s", pair, query.place(), query.expression())
            .isEqualTo(query.expression().chars().filter(c -> c == pair.charAt(1)).count());
      }
    }
  }
}
