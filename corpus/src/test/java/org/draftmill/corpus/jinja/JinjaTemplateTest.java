package org.draftmill.corpus.jinja;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.draftmill.corpus.jinja.JinjaException.Kind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JinjaTemplateTest {
  private static final Limits TIGHT = new Limits(20_000, 10_000, 20);

  private static String render(String template, Map<String, ?> variables) {
    return JinjaTemplate.parse(template).render(variables, JinjaConformanceTest.NOW, TIGHT);
  }

  private static JinjaException failure(String template) {
    return catchThrowableOfType(JinjaException.class, () -> render(template, Map.of()));
  }

  @Test
  void whatIsNotKnownIsNamedWithItsLine() {
    assertThat(failure("a\n{{ 1 | nonsense }}"))
        .hasMessage("line 2: the filter 'nonsense' is not known")
        .extracting(JinjaException::kind)
        .isEqualTo(Kind.UNSUPPORTED);
    assertThat(failure("\n\n{% include 'x' %}"))
        .hasMessage("line 3: the tag 'include' is not known");
    assertThat(failure("{{ 1 is nonsense }}")).hasMessageContaining("the test 'nonsense'");
    assertThat(failure("{{ nonsense(1) }}")).hasMessageContaining("'nonsense' is called");
    assertThat(failure("{{ 'a'.nonsense() }}")).hasMessageContaining("method 'nonsense'");
  }

  @Test
  void aRefusalOfTheTemplateIsToldApart() {
    assertThat(failure("{% if true %}\n{{ raise_exception('roles must alternate') }}{% endif %}"))
        .hasMessage("line 2: roles must alternate")
        .extracting(JinjaException::kind, JinjaException::reason)
        .containsExactly(Kind.RAISED, "roles must alternate");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{% for i in range(1000000000) %}{% endfor %}",
        "{% for i in range(9000) %}{% for j in range(9000) %}{% endfor %}{% endfor %}",
        "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
        "{% for x in [[1]] recursive %}{{ loop([[1]]) }}{% endfor %}",
        "{{ 'a' * 100000000 }}",
        "{{ [1] * 100000000 }}",
        "{{ ('a' * 9999).replace('a', 'b' * 9999) }}",
        "{{ 'b' * 9999 | replace('', 'b' * 9999) }}",
        "{{ ('a' * 9999) | list | join('b' * 9999) }}",
        "{{ 'a'.center(100000000) }}{{ 'a' | center(100000000) }}",
        "{{ 'a'.zfill(100000000) }}",
        "{{ 'a' | indent(100000000, true) }}",
        "{{ '%9999d' % 1 }}{{ '%9999d' % 1 }}{{ '%9999d' % 1 }}",
        "{{ [1] | slice(100000000) }}",
        "{{ [1] | batch(100000000, 1) }}",
        "{{ [[[1]]] | tojson(indent=100000000) }}",
        "{% set ns = namespace(s='ab') %}{% for i in range(100) %}"
            + "{% set ns.s = ns.s + ns.s %}{% endfor %}",
        "{% set ns = namespace(s='ab') %}{% for i in range(100) %}"
            + "{% set ns.s = ns.s ~ ns.s %}{% endfor %}",
        "{% set ns = namespace(s=[1]) %}{% for i in range(100) %}"
            + "{% set ns.s = ns.s + ns.s %}{% endfor %}",
        "{% set ns = namespace(s=[1]) %}{% for i in range(100) %}"
            + "{% set ns.s = [ns.s, ns.s] %}{% endfor %}{{ ns.s }}",
        "{% set ns = namespace(s=[1]) %}{% for i in range(100) %}"
            + "{% set ns.s = [ns.s, ns.s] %}{% endfor %}{{ ns.s | tojson }}",
        "{% set ns = namespace(s=[1], t=[1]) %}{% for i in range(100) %}"
            + "{% set ns.s = [ns.s, ns.s] %}{% set ns.t = [ns.t, ns.t] %}{% endfor %}"
            + "{{ ns.s == ns.t }}",
        "{% set ns = namespace(s=[1]) %}{% for i in range(9000) %}"
            + "{% set ns.s = [ns.s] %}{% endfor %}{{ ns.s }}{{ ns.s }}",
      })
  void aTemplateThatExplodesIsStopped(String template) {
    assertThat(failure(template)).extracting(JinjaException::kind).isEqualTo(Kind.LIMIT);
  }

  @Test
  void nestingIsBounded() {
    assertThat(failure("{{ " + "(".repeat(10_000) + "1" + ")".repeat(10_000) + " }}"))
        .hasMessageContaining("nested");
    assertThat(failure("{{ " + "- ".repeat(10_000) + "1 }}")).hasMessageContaining("nested");
    assertThat(failure("{{ " + "not ".repeat(10_000) + "1 }}")).hasMessageContaining("nested");
    assertThat(failure("{% if 1 %}".repeat(10_000))).hasMessageContaining("nested");
    assertThat(failure("{{ " + "[".repeat(10_000) + "]".repeat(10_000) + " }}"))
        .hasMessageContaining("nested");
    assertThat(failure("{% set " + "(".repeat(10_000) + "a" + ")".repeat(10_000) + " %}"))
        .hasMessageContaining("nested");
  }

  @Test
  void theGivenValuesAreNeverChanged() {
    List<Object> list = List.of(1L);

    assertThatThrownBy(() -> render("{{ list.append(2) }}", Map.of("list", list)))
        .isInstanceOf(JinjaException.class)
        .hasMessageContaining("would change a list");
    assertThatThrownBy(() -> render("{% set m.a = 1 %}", Map.of("m", Map.of("b", 1L))))
        .isInstanceOf(JinjaException.class)
        .hasMessageContaining("no namespace");
  }

  /** Whatever the template is, it is rendered or refused; nothing else happens, and soon. */
  @Test
  void mutilatedTemplatesAreRenderedOrRefused() throws IOException {
    ObjectMapper json = new ObjectMapper();
    List<String> cases = new ArrayList<>();
    for (String line : JinjaConformanceTest.cases()) {
      cases.add(json.readTree(line).get("template").asText());
    }
    Random random = new Random(11);
    int refused = 0;
    for (int i = 0; i < 20_000; i++) {
      String a = cases.get(random.nextInt(cases.size()));
      String b = cases.get(random.nextInt(cases.size()));
      String mutilated =
          a.substring(0, random.nextInt(a.length() + 1)) + b.substring(random.nextInt(b.length()));
      try {
        render(mutilated, Map.of("msgs", List.of(Map.of("role", "user", "content", "x"))));
      } catch (JinjaException e) {
        refused++;
      } catch (RuntimeException e) {
        throw new AssertionError("The template <" + mutilated + "> failed with " + e, e);
      }
    }
    assertThat(refused).isBetween(1_000, 19_000);
  }
}
