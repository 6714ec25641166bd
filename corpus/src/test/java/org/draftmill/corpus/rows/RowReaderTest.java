package org.draftmill.corpus.rows;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.Random;
import org.draftmill.corpus.TokenizedSequence;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RowReaderTest {
  private final RowReader reader = new RowReader();

  @Test
  void messagesAreTakenAsTheyAre() {
    Row row =
        reader.read(
            "{\"messages\": [{\"role\": \"user\", \"content\": \"a\"}, {\"role\": \"assistant\", \"content\": null, \"reasoning_content\": \"r\", \"tool_calls\": [{\"id\": 1}]}], \"tools\": [{\"name\": \"f\"}], \"chat_template_kwargs\": {\"enable_thinking\": false}}");

    assertThat(row)
        .isInstanceOfSatisfying(
            Conversation.class,
            chat -> {
              assertThat(chat.messages())
                  .extracting(message -> message.get("role"))
                  .containsExactly("user", "assistant");
              assertThat(chat.messages().get(1))
                  .containsEntry("reasoning_content", "r")
                  .containsEntry("tool_calls", List.of(Map.of("id", 1L)))
                  .containsEntry("content", null);
              assertThat(chat.variables())
                  .containsEntry("tools", List.of(Map.of("name", "f")))
                  .containsEntry("enable_thinking", false);
            });
  }

  @Test
  void fromAndValueBecomeRoleAndContent() {
    Row row =
        reader.read(
            "{\"conversations\": [{\"from\": \"system\", \"value\": \"s\"}, {\"from\": \"human\", \"value\": \"a\"}, {\"from\": \"gpt\", \"value\": \"b\"}, {\"from\": \"observation\", \"value\": \"c\"}], \"tools\": \"[{}]\"}");

    assertThat(row)
        .isInstanceOfSatisfying(
            Conversation.class,
            chat -> {
              assertThat(chat.messages())
                  .extracting(message -> message.get("role") + "=" + message.get("content"))
                  .containsExactly("system=s", "user=a", "assistant=b", "tool=c");
              assertThat(chat.variables()).containsEntry("tools", List.of(Map.of()));
            });
  }

  @Test
  void textAndTokensAndNothing() {
    assertThat(reader.read("\uFEFF{\"text\": \"a\", \"id\": 3}")).isEqualTo(new Row.PlainText("a"));
    assertThat(reader.read("  \r")).isEqualTo(new Row.Blank());
    assertThat(reader.read("{\"input_ids\": [1, 2], \"loss_mask\": [0, true]}"))
        .isEqualTo(new Row.Tokenized(new TokenizedSequence(new int[] {1, 2}, new byte[] {0, 1})));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{                                                   | malformed-json | no JSON",
        "{\"text\": \"a\"} {\"text\": \"b\"}                 | malformed-json | no JSON",
        "[1]                                                 | malformed-json | no JSON object",
        "{\"prompt\": \"a\"}                                 | unknown-shape  | but [prompt]",
        "{\"text\": 3}                                       | unknown-shape  | text is 3, which is no text",
        "{\"messages\": []}                                  | unknown-shape  | no list",
        "{\"messages\": \"a\"}                               | unknown-shape  | no list",
        "{\"messages\": [1]}                                 | unknown-shape  | messages[0] is no object",
        "{\"messages\": [{\"content\": \"a\"}]}              | unknown-shape  | messages[0] has no role",
        "{\"messages\": [{\"role\": \"user\"}]}              | unknown-shape  | messages[0] has no content",
        "{\"conversations\": [{\"from\": \"x\", \"value\": \"a\"}]} | unknown-shape | comes from 'x'",
        "{\"messages\": [{\"role\": \"user\", \"content\": \"a\"}], \"tools\": 3} | unknown-shape | tools is no list",
        "{\"messages\": [{\"role\": \"user\", \"content\": \"a\"}], \"tools\": \"{\"} | unknown-shape | tools is a text",
        "{\"input_ids\": [1]}                                | unknown-shape  | same length",
        "{\"input_ids\": [1], \"loss_mask\": [1, 0]}         | unknown-shape  | same length",
        "{\"input_ids\": [-1], \"loss_mask\": [1]}           | unknown-shape  | no token id",
        "{\"input_ids\": [1], \"loss_mask\": [2]}            | unknown-shape  | neither 0 nor 1",
      })
  void whatCannotBeUnderstoodIsRejectedByReason(String line, String reason, String detail) {
    assertThat(reader.read(line))
        .isInstanceOfSatisfying(
            Rejection.class,
            rejection -> {
              assertThat(rejection.reason().option()).isEqualTo(reason);
              assertThat(rejection.detail()).contains(detail);
            });
  }

  @Test
  void noLineMakesItFail() {
    String row =
        "{\"messages\": [{\"role\": \"user\", \"content\": \"a\"}, {\"from\": \"gpt\", \"value\": [1, null, {\"b\": 2.5e3}]}], \"tools\": [], \"text\": \"x\", \"input_ids\": [1, 2], \"loss_mask\": [true, 0]}";
    Random random = new Random(5);
    for (int i = 0; i < 20_000; i++) {
      StringBuilder line = new StringBuilder(row);
      for (int k = random.nextInt(4); k >= 0; k--) {
        int at = random.nextInt(line.length());
        int to = Math.min(line.length(), at + random.nextInt(12));
        switch (random.nextInt(3)) {
          case 0 -> line.delete(at, to);
          case 1 -> line.insert(at, row.substring(random.nextInt(row.length())));
          default -> line.setCharAt(at, "{}[]\",:0n\u0000".charAt(random.nextInt(10)));
        }
        if (line.isEmpty()) {
          break;
        }
      }
      assertThat(reader.read(line.toString())).isNotNull();
    }
  }
}
