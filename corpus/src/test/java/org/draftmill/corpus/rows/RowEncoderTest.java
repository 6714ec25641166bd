package org.draftmill.corpus.rows;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.draftmill.corpus.Demo;
import org.draftmill.corpus.TokenizedSequence;
import org.draftmill.corpus.text.RenderException;
import org.draftmill.corpus.text.TargetText;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RowEncoderTest {
  private static final String TWO_TURNS =
      chat("user", "Hi", "assistant", "Hello there", "user", "More", "assistant", "Yes");

  @TempDir private Path directory;
  private TargetText target;

  @AfterEach
  void close() {
    if (target != null) {
      target.close();
    }
  }

  private RowEncoder demo() throws IOException {
    target = Demo.target();
    return new RowEncoder(target, 0);
  }

  private RowEncoder with(String template) throws IOException {
    target = TargetText.load(Demo.withTemplate(directory, template), Demo.NOW);
    return new RowEncoder(target, 0);
  }

  /** A row of a chat: roles and contents in turn. */
  private static String chat(String... parts) {
    StringBuilder row = new StringBuilder("{\"messages\": [");
    for (int i = 0; i < parts.length; i += 2) {
      row.append(i == 0 ? "" : ", ")
          .append("{\"role\": \"%s\", \"content\": \"%s\"}".formatted(parts[i], parts[i + 1]));
    }
    return row.append("]}").toString();
  }

  /** The text of a sequence with its supervised parts in brackets. */
  private String marked(TokenizedSequence sequence) {
    StringBuilder text = new StringBuilder();
    int from = 0;
    for (int i = 1; i <= sequence.length(); i++) {
      if (i == sequence.length() || sequence.lossMask()[i] != sequence.lossMask()[from]) {
        String part = target.tokenizer().decode(Arrays.copyOfRange(sequence.inputIds(), from, i));
        text.append(sequence.lossMask()[from] == 1 ? "[" + part + "]" : part);
        from = i;
      }
    }
    return text.toString();
  }

  private List<String> marked(EncodedRow row) {
    assertThat(row.rejections()).isEmpty();
    return row.sequences().stream().map(this::marked).toList();
  }

  private static Rejection rejection(EncodedRow row) {
    assertThat(row.sequences()).isEmpty();
    assertThat(row.rejections()).hasSize(1);
    return row.rejections().get(0);
  }

  @Test
  void theMaskCoversTheAnswersAndTheirEndOfTurnOnly() throws IOException {
    assertThat(marked(demo().encode(TWO_TURNS)))
        .containsExactly(
            "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n[Hello there<|im_end|>]\n"
                + "<|im_start|>user\nMore<|im_end|>\n<|im_start|>assistant\n[Yes<|im_end|>]\n");
  }

  @Test
  void whatFollowsTheLastAnswerIsLeftOut() throws IOException {
    assertThat(marked(demo().encode(chat("user", "a", "assistant", "b", "user", "c"))))
        .containsExactly("<|im_start|>user\na<|im_end|>\n<|im_start|>assistant\n[b<|im_end|>]\n");
  }

  @Test
  void answersThatFollowEachOtherAreBothSupervised() throws IOException {
    assertThat(marked(demo().encode(chat("assistant", "a", "assistant", "b"))))
        .containsExactly(
            "<|im_start|>assistant\n[a<|im_end|>]\n<|im_start|>assistant\n[b<|im_end|>]\n");
  }

  @Test
  void anAnswerThatStartsWithANewlineIsCutFromThePrompt() throws IOException {
    RowEncoder encoder = demo();
    int[] joined = target.tokenizer().encode("assistant\n\nb", false);
    int[] newline = target.tokenizer().encode("\n", false);

    EncodedRow row = encoder.encode(chat("user", "a", "assistant", "\\n\\nb"));

    assertThat(marked(row))
        .containsExactly(
            "<|im_start|>user\na<|im_end|>\n<|im_start|>assistant\n[\n\nb<|im_end|>]\n");
    assertThat(joined).isNotEmpty();
    assertThat(newline).hasSize(1);
  }

  /** The ids are those of the whole text wherever no token reaches across a border. */
  @Test
  void theTokensAreThoseOfTheWholeText() throws IOException {
    RowEncoder encoder = demo();
    int compared = 0;
    List<String> lines = Files.readAllLines(Demo.folder().resolve("corpus.jsonl")).subList(0, 300);
    for (String line : lines) {
      EncodedRow row = encoder.encode(line);
      assertThat(row.rejections()).isEmpty();
      assertThat(row.sequences()).hasSize(1);
      TokenizedSequence sequence = row.sequences().get(0);
      String text = target.tokenizer().decode(sequence.inputIds());
      assertThat(sequence.inputIds()).containsExactly(target.tokenizer().encode(text, false));
      if (new RowReader().read(line) instanceof Conversation chat) {
        String rendered = rendered(chat);
        assertThat(text).isEqualTo(rendered);
        compared++;
      }
    }
    assertThat(compared).isGreaterThan(50);
  }

  private String rendered(Conversation chat) {
    try {
      return target.chatTemplate().orElseThrow().render(chat.messages(), chat.variables(), false);
    } catch (RenderException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void plainTextIsSupervisedThroughoutAndEnded() throws IOException {
    RowEncoder encoder = demo();

    assertThat(marked(encoder.encode("{\"text\": \"In the beginning\"}")))
        .containsExactly("[In the beginning<|endoftext|>]");
    assertThat(marked(encoder.encode("{\"text\": \"ended<|endoftext|>\"}")))
        .containsExactly("[ended<|endoftext|>]");
    assertThat(rejection(encoder.encode("{\"text\": \"\"}")).reason())
        .isEqualTo(RejectionReason.NO_SUPERVISED_TOKEN);
  }

  /** Drops the thoughts of earlier turns and gives the last one empty ones, as Qwen3 does. */
  private static final String REWRITES =
      """
      {%- for m in messages %}
      {{- '<|im_start|>' + m.role + '\\n' }}
      {%- set content = m.content %}
      {%- if m.role == 'assistant' and not loop.last %}
      {%- set content = content.split('</think>')[-1].lstrip('\\n') %}
      {%- elif m.role == 'assistant' and '</think>' not in content %}
      {%- set content = '<think>\\n\\n</think>\\n\\n' + content %}
      {%- endif %}
      {{- content + '<|im_end|>\\n' }}
      {%- endfor %}
      {%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}
      """;

  @Test
  void whereTheTemplateRewritesHistoryEachAnswerIsASequenceOfItsOwn() throws IOException {
    RowEncoder encoder = with(REWRITES);

    EncodedRow row =
        encoder.encode(
            chat(
                "user",
                "Hi",
                "assistant",
                "<think>hm</think>Hello",
                "user",
                "More",
                "assistant",
                "Yes"));

    assertThat(marked(row))
        .containsExactly(
            "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n[<think>hm</think>Hello<|im_end|>]\n",
            "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\nHello<|im_end|>\n<|im_start|>user\nMore<|im_end|>\n"
                + "<|im_start|>assistant\n[<think>\n\n</think>\n\nYes<|im_end|>]\n");
  }

  @Test
  void ofSeveralSequencesOnlyTheLongOnesAreRejected() throws IOException {
    target = TargetText.load(Demo.withTemplate(directory, REWRITES), Demo.NOW);

    EncodedRow row =
        new RowEncoder(target, 40)
            .encode(
                chat("user", "Hi", "assistant", "a", "user", "word ".repeat(40), "assistant", "b"));

    assertThat(row.sequences()).hasSize(1);
    assertThat(row.rejections())
        .extracting(Rejection::reason)
        .containsExactly(RejectionReason.TOO_LONG);
  }

  @Test
  void aPromptThatIsNoPrefixIsRejected() throws IOException {
    RowEncoder encoder =
        with(
            "{% for m in messages %}{{ m.role }}:{{ m.content }}{% endfor %}"
                + "{% if add_generation_prompt %}assistant:<think>{% endif %}");

    Rejection rejection = rejection(encoder.encode(TWO_TURNS));

    assertThat(rejection.reason()).isEqualTo(RejectionReason.NO_PREFIX);
    assertThat(rejection.detail()).contains("up to message 1");
  }

  @Test
  void aTemplateWithoutEndOfTurnHasItsAnswersMarkedButForBlanks() throws IOException {
    RowEncoder encoder =
        with(
            "{% for m in messages %}{{ m.role + ': ' + m.content + '\\n' }}{% endfor %}"
                + "{% if add_generation_prompt %}{{ 'assistant:' }}{% endif %}");

    assertThat(marked(encoder.encode(chat("user", "a", "assistant", "b"))))
        .containsExactly("user: a\nassistant:[ b]\n");
  }

  @Test
  void theHeaderMayStandInTheAnswersOwnWords() throws IOException {
    assertThat(
            marked(
                demo()
                    .encode(
                        chat(
                            "user", "say assistant", "assistant", "assistant\\nuser\\nassistant"))))
        .containsExactly(
            "<|im_start|>user\nsay assistant<|im_end|>\n<|im_start|>assistant\n[assistant\nuser\nassistant<|im_end|>]\n");
  }

  @Test
  void toolsAndTheirCallsReachTheTemplate() throws IOException {
    RowEncoder encoder =
        with(
            "{% if tools %}{{ tools | tojson }}\n{% endif %}{% for m in messages %}<|im_start|>{{ m.role }}\n"
                + "{{ m.reasoning_content }}{% for c in m.tool_calls %}{{ c | tojson }}{% endfor %}{{ m.content or '' }}<|im_end|>{% endfor %}"
                + "{% if add_generation_prompt %}<|im_start|>assistant\n{{ '' }}{% endif %}");

    EncodedRow row =
        encoder.encode(
            "{\"tools\": [{\"name\": \"f\"}], \"messages\": [{\"role\": \"user\", \"content\": \"a\"}, {\"role\": \"assistant\", \"content\": null, \"reasoning_content\": \"r\", \"tool_calls\": [{\"n\": 1}]}, {\"role\": \"tool\", \"content\": \"t\"}, {\"role\": \"assistant\", \"content\": \"b\"}]}");

    assertThat(marked(row))
        .containsExactly(
            "[{\"name\": \"f\"}]\n<|im_start|>user\na<|im_end|><|im_start|>assistant\n[r{\"n\": 1}<|im_end|>]"
                + "<|im_start|>tool\nt<|im_end|><|im_start|>assistant\n[b<|im_end|>]");
  }

  @Test
  void everyOtherReasonIsGiven() throws IOException {
    RowEncoder encoder = with("{{ raise_exception('roles') }}");

    assertThat(rejection(encoder.encode(TWO_TURNS)))
        .isEqualTo(new Rejection(RejectionReason.TEMPLATE_ERROR, "line 1: roles"));
    assertThat(rejection(encoder.encode(chat("user", "a"))).reason())
        .isEqualTo(RejectionReason.NO_SUPERVISED_TOKEN);
    assertThat(rejection(encoder.encode("{")).reason()).isEqualTo(RejectionReason.MALFORMED_JSON);
    assertThat(rejection(encoder.encode("{}")).reason()).isEqualTo(RejectionReason.UNKNOWN_SHAPE);
    assertThat(rejection(encoder.encode("{\"input_ids\": [1, 2], \"loss_mask\": [0, 0]}")).reason())
        .isEqualTo(RejectionReason.NO_SUPERVISED_TOKEN);
    assertThat(encoder.encode("")).isEqualTo(EncodedRow.NOTHING);

    Files.delete(directory.resolve("target/chat_template.jinja"));
    try (TargetText bare = TargetText.load(directory.resolve("target"), Demo.NOW)) {
      assertThat(rejection(new RowEncoder(bare, 0).encode(TWO_TURNS)).reason())
          .isEqualTo(RejectionReason.NO_CHAT_TEMPLATE);
    }
  }

  @Test
  void tokenizedRowsAreTakenAsTheyAreUnlessTooLong() throws IOException {
    target = Demo.target();
    RowEncoder encoder = new RowEncoder(target, 2);
    List<String> rows =
        List.of(
            "{\"input_ids\": [5, 6], \"loss_mask\": [0, 1]}",
            "{\"input_ids\": [5, 6, 7], \"loss_mask\": [0, 1, 1]}");

    List<EncodedRow> encoded = new ArrayList<>();
    rows.forEach(row -> encoded.add(encoder.encode(row)));

    assertThat(encoded.get(0).sequences())
        .containsExactly(new TokenizedSequence(new int[] {5, 6}, new byte[] {0, 1}));
    assertThat(rejection(encoded.get(1)))
        .isEqualTo(new Rejection(RejectionReason.TOO_LONG, "3 tokens, at most 2 are allowed"));
  }
}
