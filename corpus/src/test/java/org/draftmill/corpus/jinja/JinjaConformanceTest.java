package org.draftmill.corpus.jinja;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * What Jinja2 3.1 makes of small templates, in the environment that Hugging Face sets up for chat
 * templates: {@code ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)} with loop
 * controls, their {@code tojson}, {@code raise_exception} and {@code strftime_now}. The expected
 * texts were computed there; {@code error} stands for whatever it raised.
 */
class JinjaConformanceTest {
  static final ZonedDateTime NOW = ZonedDateTime.of(2026, 11, 5, 9, 7, 3, 0, ZoneOffset.UTC);

  private static final Map<String, Object> VARIABLES =
      Map.of(
          "msgs",
          List.of(message("user", "Hi"), message("assistant", " Yo \n"), message("user", "é😀x")));

  private static Map<String, Object> message(String role, String content) {
    Map<String, Object> message = new LinkedHashMap<>();
    message.put("role", role);
    message.put("content", content);
    return message;
  }

  @TestFactory
  List<DynamicTest> rendersAsJinja2Does() throws IOException {
    ObjectMapper json = new ObjectMapper();
    List<DynamicTest> tests = new ArrayList<>();
    for (String line : cases()) {
      JsonNode expected = json.readTree(line);
      String template = expected.get("template").asText();
      tests.add(DynamicTest.dynamicTest(template, () -> check(template, expected)));
    }
    return tests;
  }

  static List<String> cases() throws IOException {
    try (InputStream in = JinjaConformanceTest.class.getResourceAsStream("cases.jsonl")) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8).lines().toList();
    }
  }

  private static void check(String template, JsonNode expected) {
    String text;
    try {
      text = JinjaTemplate.parse(template).render(VARIABLES, NOW, Limits.DEFAULT);
    } catch (JinjaException e) {
      assertThat(expected.has("error")).as(e.getMessage()).isTrue();
      assertThat(e.line()).isPositive();
      return;
    }
    assertThat(text).isEqualTo(expected.path("text").asText(null));
  }
}
