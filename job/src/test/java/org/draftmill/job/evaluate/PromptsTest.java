package org.draftmill.job.evaluate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.ZonedDateTime;
import org.draftmill.corpus.InputException;
import org.draftmill.corpus.text.TargetText;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PromptsTest {
  private static TargetText target;

  @TempDir Path dir;

  @BeforeAll
  static void load() throws Exception {
    target = TargetText.load(Path.of("..", "demo", "target"), ZonedDateTime.now());
  }

  @AfterAll
  static void close() {
    target.close();
  }

  private Path file(String... lines) throws Exception {
    return Files.writeString(dir.resolve("prompts.jsonl"), String.join("\n", lines));
  }

  @Test
  void readsTextsAndChatsAndPassesBlankLinesOver() throws Exception {
    Path file =
        file(
            "{\"text\": \"Once upon a time\"}",
            "",
            "{\"messages\": [{\"role\": \"user\", \"content\": \"Hello\"}]}");

    assertThat(Prompts.read(file, target, 0)).hasSize(2).allMatch(ids -> ids.length > 0);
    assertThat(Prompts.read(file, target, 1)).hasSize(1);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{\"text\": 5}   | text is 5, which is no text",
        "{\"prompt\": 1} | it has none of messages, conversations, text and input_ids",
        "{\"text\":      | no JSON at column",
        "{\"text\": \"\"} | it is empty"
      })
  void whatIsNoPromptIsNamedWithItsLine(String line, String said) throws Exception {
    Path file = file("{\"text\": \"Once\"}", line);

    assertThatThrownBy(() -> Prompts.read(file, target, 0))
        .isInstanceOf(InputException.class)
        .hasMessageContaining(file + ", line 2: this is no prompt: ")
        .hasMessageContaining(said)
        .hasMessageNotContaining("REDACTED");
  }

  @Test
  void whatIsNotUtf8IsNamedWithItsLine() throws Exception {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    bytes.write("{\"text\": \"Once\"}\n{\"text\": \"caf".getBytes(StandardCharsets.UTF_8));
    bytes.write(0xE9); // as Latin-1 has it
    bytes.write("\"}\n".getBytes(StandardCharsets.UTF_8));
    Path file = Files.write(dir.resolve("latin.jsonl"), bytes.toByteArray());

    assertThatThrownBy(() -> Prompts.read(file, target, 0))
        .isInstanceOf(InputException.class)
        .hasMessage(file + ", line 2: it is not UTF-8; is this a file of JSON lines?");
  }

  @Test
  void nestedBeyondReasonIsNoPrompt() throws Exception {
    Path file = file("{\"text\": " + "[".repeat(100_000));

    assertThatThrownBy(() -> Prompts.read(file, target, 0))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("line 1");
  }
}
