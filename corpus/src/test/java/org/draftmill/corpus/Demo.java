package org.draftmill.corpus;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import org.draftmill.corpus.text.TargetText;

/** The demo that the repository ships, and targets made from it. */
public final class Demo {
  public static final ZonedDateTime NOW = ZonedDateTime.of(2026, 11, 5, 9, 7, 3, 0, ZoneOffset.UTC);

  private Demo() {}

  /** The repository's demo folder, found from wherever the tests run. */
  public static Path folder() {
    Path at = Path.of("").toAbsolutePath();
    while (at != null && !Files.isRegularFile(at.resolve("demo/target/tokenizer.json"))) {
      at = at.getParent();
    }
    if (at == null) {
      throw new IllegalStateException("no demo/target above " + Path.of("").toAbsolutePath());
    }
    return at.resolve("demo");
  }

  public static TargetText target() throws IOException {
    return TargetText.load(folder().resolve("target"), NOW);
  }

  /** A target with the demo's tokenizer and stop tokens, and another chat template. */
  public static Path withTemplate(Path directory, String template) throws IOException {
    Path target = Files.createDirectories(directory.resolve("target"));
    for (String file : new String[] {"tokenizer.json", "generation_config.json", "config.json"}) {
      Files.copy(folder().resolve("target").resolve(file), target.resolve(file));
    }
    Files.writeString(
        target.resolve("tokenizer_config.json"),
        "{\"eos_token\": {\"content\": \"<|im_end|>\"}, \"bos_token\": null, \"pad_token\": \"<|endoftext|>\"}");
    Files.writeString(target.resolve("chat_template.jinja"), template);
    return target;
  }
}
