package org.draftmill.corpus.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.draftmill.corpus.Demo;
import org.draftmill.corpus.InputException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ChatTemplateTest {
  private static final List<Map<String, Object>> HI =
      List.of(Map.of("role", "user", "content", "Hi"));

  @TempDir private Path target;

  private String render(Map<String, Object> variables) throws IOException, RenderException {
    return ChatTemplate.load(target, Demo.NOW).orElseThrow().render(HI, variables, true);
  }

  private void write(String file, String content) throws IOException {
    Files.createDirectories(target.resolve(file).getParent());
    Files.writeString(target.resolve(file), content);
  }

  @Test
  void theDemosTemplateIsRendered() throws Exception {
    ChatTemplate template =
        ChatTemplate.load(Demo.folder().resolve("target"), Demo.NOW).orElseThrow();

    assertThat(template.render(HI, Map.of(), true))
        .isEqualTo("<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n");
    assertThat(template.render(HI, Map.of(), false)).isEqualTo("<|im_start|>user\nHi<|im_end|>\n");
  }

  @Test
  void aTemplateIsFoundInAnyOfItsPlacesTheFileOfItsOwnFirst() throws Exception {
    assertThat(ChatTemplate.load(target, Demo.NOW)).isEmpty();

    write("tokenizer_config.json", "{\"chat_template\": \"config\"}");
    assertThat(render(Map.of())).isEqualTo("config");

    write("chat_template.json", "{\"chat_template\": \"json\"}");
    assertThat(render(Map.of())).isEqualTo("json");

    write("chat_template.jinja", "jinja");
    assertThat(render(Map.of())).isEqualTo("jinja");

    write("additional_chat_templates/tool_use.jinja", "tools");
    assertThat(render(Map.of())).isEqualTo("jinja");
    assertThat(render(Map.of("tools", List.of(Map.of())))).isEqualTo("tools");
  }

  @Test
  void aFileOfAnotherKindIsNotTakenForOneThatSaysNothing() throws Exception {
    for (String content : List.of("", "[1]", "\"text\"")) {
      write("tokenizer_config.json", content);
      assertThatThrownBy(() -> ChatTemplate.load(target, Demo.NOW))
          .isInstanceOf(InputException.class)
          .hasMessage(target.resolve("tokenizer_config.json") + " holds no JSON object.");
    }
  }

  @Test
  void aTemplateThatIsNoTextIsNamed() throws Exception {
    Path file = Files.write(target.resolve("chat_template.jinja"), new byte[] {(byte) 0xff});

    assertThatThrownBy(() -> ChatTemplate.load(target, Demo.NOW))
        .isInstanceOf(InputException.class)
        .hasMessage(file + " is not UTF-8 text: is it what its name says?");
  }

  @Test
  void ofNamedTemplatesTheDefaultIsTakenAndTheOneForToolsWhereThereAreSome() throws Exception {
    write(
        "tokenizer_config.json",
        "{\"chat_template\": [{\"name\": \"default\", \"template\": \"d\"}, {\"name\": \"tool_use\", \"template\": \"{{ tools|length }}\"}]}");
    assertThat(render(Map.of())).isEqualTo("d");
    assertThat(render(Map.of("tools", List.of(1L, 2L)))).isEqualTo("2");

    write(
        "tokenizer_config.json",
        "{\"chat_template\": [{\"name\": \"a\", \"template\": \"\"}, {\"name\": \"b\", \"template\": \"\"}]}");
    assertThatThrownBy(() -> render(Map.of()))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("[a, b]");
  }

  @Test
  void theTemplateSeesWhatHuggingFaceShowsIt() throws Exception {
    write(
        "tokenizer_config.json",
        "{\"bos_token\": {\"content\": \"<s>\"}, \"eos_token\": \"</s>\", \"pad_token\": null, \"additional_special_tokens\": [\"<x>\"]}");
    write("special_tokens_map.json", "{\"unk_token\": \"<unk>\", \"pad_token\": \"<pad>\"}");
    write(
        "chat_template.jinja",
        "{{ bos_token }}{{ eos_token }}{{ unk_token }}{{ pad_token is defined }}{{ additional_special_tokens }}{{ tools is none }}{{ documents is none }}{{ enable_thinking }}{{ strftime_now('%d %b %Y') }}");

    assertThat(render(Map.of("enable_thinking", false)))
        .isEqualTo("<s></s><unk>False['<x>']TrueTrueFalse05 Nov 2026");
  }

  @Test
  void aTemplateThatCannotBeParsedIsRefusedByFileLineAndConstruct() throws IOException {
    write("chat_template.jinja", "a\n{{ messages | shuffle }}");

    assertThatThrownBy(() -> render(Map.of()))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("chat_template.jinja cannot be rendered")
        .hasMessageContaining("line 2: the filter 'shuffle' is not known");
  }

  @Test
  void aRefusalOfTheTemplateIsNoFaultOfIts() throws IOException {
    write("chat_template.jinja", "{{ raise_exception('no user') }}");
    assertThat(catchThrowableOfType(RenderException.class, () -> render(Map.of())))
        .hasMessage("line 1: no user")
        .extracting(RenderException::isTemplateAtFault)
        .isEqualTo(false);

    write("chat_template.jinja", "{{ 'a'.encode() }}");
    assertThat(catchThrowableOfType(RenderException.class, () -> render(Map.of())))
        .extracting(RenderException::isTemplateAtFault)
        .isEqualTo(true);
  }

  @Test
  void aTargetWhoseTemplateNeedsWhatIsNotKnownIsRefusedAtOnce(@TempDir Path directory)
      throws IOException {
    Path folder = Demo.withTemplate(directory, "{{ messages[0].content.encode() }}");

    assertThatThrownBy(() -> TargetText.load(folder, Demo.NOW))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("method 'encode'");
  }

  @Test
  void theEndOfTextIsAStopTokenThatEndsNoTurn(@TempDir Path directory) throws IOException {
    try (TargetText demo = Demo.target()) {
      assertThat(demo.isStop(2046)).isTrue();
      assertThat(demo.isStop(2044)).isTrue();
      assertThat(demo.isStop(2045)).isFalse();
      assertThat(demo.endOfText()).hasValue(2044);
      assertThat(demo.maxPositions()).isEqualTo(512);
      assertThat(demo.name()).isEqualTo("target");
    }
    Path folder =
        Demo.withTemplate(
            directory,
            "{% for m in messages %}{{ m.content }}{{ '<|endoftext|><|im_end|>' }}{% endfor %}");
    try (TargetText both = TargetText.load(folder, Demo.NOW)) {
      assertThat(both.endOfText()).hasValue(2044);
    }
  }
}
