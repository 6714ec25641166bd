package org.draftmill.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every benchmark runs and writes what it should; how fast anything is, is no matter here. */
@Timeout(value = 30, unit = TimeUnit.MINUTES)
class BenchmarkSmokeTest {
  private static final String SUFFIX = "Benchmark.class";

  @TempDir Path results;

  @BeforeEach
  void redirectResults() {
    System.setProperty(Results.FOLDER, results.toString());
  }

  @AfterEach
  void resetResults() {
    System.clearProperty(Results.FOLDER);
  }

  /** All that {@code run.sh} knows. */
  static List<String> benchmarks() throws IOException, URISyntaxException {
    Path classes = Path.of(Results.class.getResource("Results.class").toURI()).getParent();
    try (Stream<Path> files = Files.list(classes)) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(name -> name.endsWith(SUFFIX))
          .map(name -> name.substring(0, name.length() - SUFFIX.length()))
          .sorted()
          .toList();
    }
  }

  @ParameterizedTest
  @MethodSource("benchmarks")
  void runs(String name) throws Exception {
    Class.forName(Results.class.getPackageName() + "." + name + "Benchmark")
        .getMethod("main", String[].class)
        .invoke(null, (Object) new String[] {"--smoke"});

    Path file = results.resolve(name.toLowerCase(Locale.ROOT) + ".json");
    JsonNode json = new ObjectMapper().readTree(file.toFile());
    assertThat(json.path("benchmark").asText()).isEqualTo(name.toLowerCase(Locale.ROOT));
    assertThat(json.path("machine").asText()).isNotEmpty();
    assertThat(json.path("commit").asText()).isNotEmpty();
    assertThat(json.path("date").asText()).isNotEmpty();
    assertThat(json.path("goals").isObject()).isTrue();
    assertThat(json.path("figures")).isNotEmpty().allMatch(JsonNode::isNumber);
  }
}
