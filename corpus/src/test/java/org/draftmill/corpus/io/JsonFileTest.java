package org.draftmill.corpus.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.draftmill.corpus.InputException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class JsonFileTest {
  @TempDir Path dir;

  record Herd(String name, List<Cow> cows) {}

  record Cow(int legs) {}

  private Herd read(String content) throws IOException {
    Path file = Files.writeString(dir.resolve("herd.json"), content);
    return JsonFile.read(ByteSources.file(file), "herd", 1, Herd.class);
  }

  @Test
  void whatIsWrittenIsRead() throws Exception {
    Herd herd = new Herd("north", List.of(new Cow(4), new Cow(3)));

    assertThat(read(new String(JsonFile.encode("herd", 1, herd)))).isEqualTo(herd);
  }

  /** By its place in the file, and not by the classes that it should become. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "'cows': []                              | 'name'",
        "'name': null, 'cows': []                | 'name'",
        "'name': 'n', 'cows': null               | 'cows'",
        "'name': 'n', 'cows': 7                  | 'cows'",
        "'name': 'n', 'cows': [{'legs': 4}, {}]  | 'cows[1].legs'",
        "'name': 'n', 'cows': [{'legs': 'four'}] | 'cows[0].legs'",
        "'name': 'n', 'cows': [], 'milk': 1      | 'milk'"
      },
      quoteCharacter = '"')
  void whatDoesNotBelongThereIsNamed(String content, String field) {
    String json = "{'format': 'herd', 'version': 1, %s}".formatted(content).replace('\'', '"');

    assertThatThrownBy(() -> read(json))
        .isInstanceOf(InputException.class)
        .hasMessage(
            "%s cannot be understood: its %s is missing, unknown or of another kind."
                .formatted(dir.resolve("herd.json"), field));
  }

  @Test
  void whatIsNoJsonIsNamedWithItsPlace() {
    assertThatThrownBy(() -> read("{\"format\": \"herd\""))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("herd.json cannot be understood at line 1, column ");
  }
}
