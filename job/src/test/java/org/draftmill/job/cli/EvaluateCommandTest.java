package org.draftmill.job.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.draftmill.job.TestingRuns;
import org.draftmill.job.console.ExitCode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EvaluateCommandTest {
  @TempDir Path dir;

  private TestingRuns.Result evaluate(Path json, String... more) {
    List<String> arguments =
        List.of(
            "evaluate",
            "--target",
            dir.resolve("no-target").toString(),
            "--drafter",
            dir.resolve("no-drafter").toString(),
            "--prompts",
            dir.resolve("no-prompts").toString(),
            "--json",
            json.toString());
    return TestingRuns.draftmill(
        Stream.concat(arguments.stream(), Stream.of(more)).toArray(String[]::new));
  }

  @Test
  void whereTheFiguresCannotBeWrittenIsSaidBeforeAnythingElse() {
    TestingRuns.Result missing = evaluate(dir.resolve("nowhere/figures.json"));
    TestingRuns.Result directory = evaluate(dir);

    assertThat(missing.exitCode()).isEqualTo(ExitCode.UNUSABLE);
    assertThat(missing.err())
        .contains("figures.json cannot be written: its directory is not there");
    assertThat(directory.exitCode()).isEqualTo(ExitCode.UNUSABLE);
    assertThat(directory.err()).contains("cannot be written: it is a directory");
  }

  @Test
  void tryingLeavesNoFileAndHarmsNone() throws Exception {
    Path absent = dir.resolve("absent.json");
    Path present = Files.writeString(dir.resolve("present.json"), "{}");

    assertThat(evaluate(absent).err()).doesNotContain("--json");
    assertThat(evaluate(present).err()).doesNotContain("--json");

    assertThat(absent).doesNotExist();
    assertThat(present).hasContent("{}");
  }

  @Test
  void aLinkToAFileThatIsNotThereYetStays() throws Exception {
    Path figures = dir.resolve("figures.json");
    Path link = Files.createSymbolicLink(dir.resolve("latest.json"), figures.getFileName());

    assertThat(evaluate(link).err()).doesNotContain("--json");

    assertThat(link).isSymbolicLink();
    assertThat(figures).doesNotExist();
  }

  @Test
  void aNegativeLimitIsNoLimitAtAll() {
    TestingRuns.Result result = evaluate(dir.resolve("figures.json"), "--limit", "-1");

    assertThat(result.exitCode()).isEqualTo(ExitCode.UNUSABLE);
    assertThat(result.err()).isEqualTo("error: --limit is -1; it must not be negative.\n");
  }
}
