package org.draftmill.job.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.description.HtmlFormatter;
import org.junit.jupiter.api.Test;

/** Keeps {@code docs/options.md} what the options say; rewrites it when told to. */
class OptionsDocumentationTest {
  private static final Path PAGE = Path.of("..", "docs", "options.md");

  @Test
  void thePageIsUpToDate() throws Exception {
    String rendered = OptionsTable.render();
    if (Boolean.getBoolean("draftmill.docs.write")) {
      Files.writeString(PAGE, rendered);
    }
    assertThat(Files.exists(PAGE) ? Files.readString(PAGE) : "")
        .as(
            "docs/options.md is stale; refresh it: mvn -pl job -am test -Dtest=OptionsDocumentationTest"
                + " -Dsurefire.failIfNoSpecifiedTests=false -Ddraftmill.docs.write=true")
        .isEqualTo(rendered);
  }

  @Test
  void everyOptionIsDescribed() {
    for (ConfigOption<?> option : KnownOptions.byKey().values()) {
      assertThat(new HtmlFormatter().format(option.description())).as(option.key()).isNotBlank();
      assertThat(option.key()).as("kebab-case key").matches("[a-z0-9-]+(\\.[a-z0-9-]+)+");
    }
  }
}
