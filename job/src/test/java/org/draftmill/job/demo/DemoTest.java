package org.draftmill.job.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.draftmill.compute.InputException;
import org.draftmill.job.console.Console;
import org.draftmill.job.train.Summary;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DemoTest {
  @TempDir Path dir;

  @Test
  void oneThatIsCompleteSaysSoAndTrainsNothing() throws Exception {
    Path files = dir.resolve("files");
    Files.createDirectories(files.resolve("target"));
    Files.writeString(files.resolve("run.yaml"), "run: {seed: 1}");
    Path out = Files.createDirectories(dir.resolve("out"));
    Summary summary =
        new Summary(
                9, 18, 0, 0, 100, 2, 50, null, null, null, null, null, null, null, "drafter", "00")
            .withEvaluation(1.1, 2.2, true);
    summary.write(out.resolve("summary.json"));
    ByteArrayOutputStream said = new ByteArrayOutputStream();
    PrintStream stream = new PrintStream(said, true, StandardCharsets.UTF_8);
    Console console = new Console(stream, stream, false, 0);

    Demo demo = new Demo(console, files, out);
    assertThat(demo.run(List.of(), null)).contains(summary);

    assertThat(said.toString(StandardCharsets.UTF_8))
        .startsWith("This demo is complete")
        .contains("acceptance length 1.10 → 2.20");
    assertThatThrownBy(() -> demo.run(List.of("drafter.anchors=0"), null))
        .isInstanceOf(InputException.class);
    assertThatThrownBy(() -> demo.run(List.of(), 0)).hasMessageContaining("run.max-steps = 0");
  }
}
