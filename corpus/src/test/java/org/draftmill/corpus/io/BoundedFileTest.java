package org.draftmill.corpus.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import org.draftmill.corpus.InputException;
import org.draftmill.corpus.text.TargetText;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BoundedFileTest {
  @TempDir Path dir;

  @Test
  void readsWhatIsNoLargerThanAllowed() throws Exception {
    Path file = Files.writeString(dir.resolve("a"), "größer");
    assertThat(BoundedFile.text(file, 8)).isEqualTo("größer");
    assertThatThrownBy(() -> BoundedFile.text(file, 7))
        .isInstanceOf(InputException.class)
        .hasMessage(
            file
                + " has more than 7 bytes, which such a file may have at most: is it what its name"
                + " says?");
  }

  @Test
  void aStreamWithoutAnEndIsRefused() {
    InputStream endless =
        new InputStream() {
          @Override
          public int read() {
            return '{';
          }
        };
    assertThatThrownBy(() -> BoundedFile.bytes(endless, "it", 1 << 16))
        .isInstanceOf(InputException.class);
  }

  /** Sparse files: they claim gigabytes and take no room. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "config.json",
        "tokenizer.json",
        "tokenizer_config.json",
        "special_tokens_map.json",
        "generation_config.json",
        "chat_template.jinja",
        "chat_template.json"
      })
  void aTargetWithAFileOfGigabytesIsRefused(String name) throws Exception {
    Path target = Path.of("..", "demo", "target");
    for (String other : new String[] {"config.json", "tokenizer.json", "tokenizer_config.json"}) {
      Files.copy(target.resolve(other), dir.resolve(other));
    }
    long size = 3L << 30;
    enlarge(dir.resolve(name), size);
    assertThatThrownBy(() -> TargetText.load(dir, java.time.ZonedDateTime.now()))
        .isInstanceOf(InputException.class)
        .hasMessageContaining(name + " has more than");
  }

  private static void enlarge(Path file, long size) throws IOException {
    try (RandomAccessFile enlarged = new RandomAccessFile(file.toFile(), "rw")) {
      enlarged.setLength(size);
    }
  }
}
