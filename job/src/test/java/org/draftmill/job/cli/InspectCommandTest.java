package org.draftmill.job.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.draftmill.job.Draftmill;
import org.draftmill.job.console.Console;
import org.draftmill.job.console.ExitCode;
import org.draftmill.operators.drafter.state.MetadataChecksums;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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

  @Test
  void aCheckpointWhoseMetadataIsEmptyIsSaidToBeCutShort(@TempDir Path checkpoint)
      throws Exception {
    Files.createFile(checkpoint.resolve("_metadata"));

    assertThat(inspect(checkpoint)).isEqualTo(ExitCode.UNUSABLE);
    assertThat(err.toString(StandardCharsets.UTF_8))
        .isEqualTo(
            "error: The metadata %s cannot be read: it is cut short.\n"
                .formatted(checkpoint.resolve("_metadata")));
  }

  @ParameterizedTest
  @ValueSource(strings = {"job/chk-3", "savepoint-1"})
  void aCheckpointWhoseMetadataChangedIsDamaged(String name, @TempDir Path checkpoints)
      throws Exception {
    Path state = Files.createDirectories(checkpoints.resolve(name));
    Files.writeString(state.resolve("_metadata"), "as it was completed");
    new MetadataChecksums(checkpoints).record(state);
    Files.writeString(state.resolve("_metadata"), "as it was completeD");

    assertThat(inspect(state)).isEqualTo(ExitCode.UNUSABLE);
    assertThat(err.toString(StandardCharsets.UTF_8))
        .contains(state + " is damaged: the checksum of its _metadata");
  }
}
