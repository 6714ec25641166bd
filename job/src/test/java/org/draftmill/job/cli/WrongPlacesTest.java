package org.draftmill.job.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.draftmill.job.TestingRuns;
import org.draftmill.job.TestingRuns.Result;
import org.draftmill.job.console.ExitCode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Where nothing can be written, or nobody answers: one line and two. */
class WrongPlacesTest {
  @TempDir Path dir;

  private static void refused(Result result, String said) {
    assertThat(result.exitCode()).as(result.err()).isEqualTo(ExitCode.UNUSABLE);
    assertThat(result.err()).startsWith("error: ").contains(said).hasLineCount(1);
  }

  /** A place below a file, at a link that leads nowhere, and at one that leads back to itself. */
  @ParameterizedTest
  @ValueSource(strings = {"file/plan", "dangling", "loop", "loop/plan"})
  void aPlanThatCannotBeWritten(String out) throws Exception {
    TestingRuns.in(dir, 4, true);
    makePlaces();

    Result result =
        TestingRuns.draftmill(
            "plan", "--dataset", dir.resolve("data").toString(), "--out", dir + "/" + out);

    refused(result, "--out " + dir.resolve(out) + " cannot be written to: ");
  }

  @ParameterizedTest
  @ValueSource(strings = {"file/plan", "dangling", "loop", "loop/plan"})
  void aPlanOfARunThatCannotBeWritten(String out) throws Exception {
    TestingRuns runs = TestingRuns.in(dir, 4, true);
    makePlaces();

    refused(
        runs.train("jobs.plan=" + dir.resolve(out)),
        "jobs.plan " + dir.resolve(out) + " cannot be written to: ");
  }

  @ParameterizedTest
  @ValueSource(strings = {"dangling", "loop", "file"})
  void anExportInThePlaceOfSomething(String out) throws Exception {
    makePlaces();

    Result result =
        TestingRuns.draftmill("export", "--checkpoint", dir.toString(), "--out", dir + "/" + out);

    refused(result, dir.resolve(out) + " exists already; give a new directory.");
  }

  private void makePlaces() throws Exception {
    Files.writeString(dir.resolve("file"), "");
    Files.createSymbolicLink(dir.resolve("dangling"), Path.of("gone"));
    Files.createSymbolicLink(dir.resolve("loop"), Path.of("loop"));
  }

  @Test
  void moreSubtasksThanAnyMachineHasCores() {
    Result result =
        TestingRuns.draftmill(
            "prepare", "--target", "x", "--input", "x", "--out", "x", "--parallelism", "100000000");

    refused(result, "--parallelism 1 to 1024");
  }

  @ParameterizedTest
  @ValueSource(strings = {"nothing", "ftp://localhost", "http://localhost:1"})
  void aWebUiThatIsNone(String rest) throws Exception {
    TestingRuns.in(dir, 4, true);

    Result result = TestingRuns.draftmill("balance", dir.toString(), "--rest", rest);

    refused(result, "Nothing at --rest " + rest + " answers as Flink's web UI does (");
  }

  @Test
  void whatMustNotBeReadOrWrittenIsNoFailureOfTheRun() {
    Failures.Verdict verdict =
        Failures.judge(new IllegalStateException(new AccessDeniedException("/secret/drafter")));

    assertThat(verdict)
        .isEqualTo(
            new Failures.Verdict(ExitCode.UNUSABLE, "/secret/drafter: permission is denied."));
  }
}
