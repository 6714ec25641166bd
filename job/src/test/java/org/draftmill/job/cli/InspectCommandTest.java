package org.draftmill.job.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.draftmill.job.Draftmill;
import org.draftmill.job.console.Console;
import org.draftmill.job.console.ExitCode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class InspectCommandTest {
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  private int inspect(Path path) {
    PrintStream stream = new PrintStream(err, true, StandardCharsets.UTF_8);
    return Draftmill.run(new Console(stream, stream, false, 0), "inspect", path.toString());
  }

  @Test
  void aDirectoryOfSomethingElseIsRefused(@TempDir Path directory) {
    assertThat(inspect(directory)).isEqualTo(ExitCode.UNUSABLE);
    assertThat(err.toString(StandardCharsets.UTF_8)).contains("nothing to inspect");
  }

  @Test
  void aFolderWithARunFileIsNoRun() {
    assertThat(inspect(Path.of("..", "demo"))).isEqualTo(ExitCode.UNUSABLE);
    assertThat(err.toString(StandardCharsets.UTF_8)).contains("run (run.yaml and log/)");
  }

  @Test
  void theRootOfAFileSystemIsRefusedThoughItHasNoName(@TempDir Path directory) {
    assertThat(inspect(directory.getRoot())).isEqualTo(ExitCode.UNUSABLE);
    assertThat(err.toString(StandardCharsets.UTF_8)).contains("nothing to inspect");
  }
}
