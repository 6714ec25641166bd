package org.draftmill.job;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.draftmill.compute.io.Folders;
import org.draftmill.job.TestingRuns.Result;
import org.draftmill.job.console.ExitCode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.Command;

class DraftmillTest {
  @TempDir Path dir;

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "demo",
        "prepare",
        "plan",
        "train",
        "evaluate",
        "export",
        "inspect",
        "balance"
      })
  void everyCommandHasHelp(String command) {
    String[] arguments =
        command.isEmpty() ? new String[] {"--help"} : new String[] {command, "--help"};
    assertThat(TestingRuns.draftmill(arguments).exitCode()).isEqualTo(ExitCode.DONE);
  }

  /** The list of commands shows the first line of each description. */
  @Test
  void theListOfCommandsSaysEachInAWholeSentence() {
    assertThat(Draftmill.class.getAnnotation(Command.class).subcommands())
        .allSatisfy(
            command ->
                assertThat(command.getAnnotation(Command.class).description()[0]).endsWith("."));
  }

  @Test
  void saysItsVersion() {
    assertThat(TestingRuns.draftmill("--version").exitCode()).isEqualTo(ExitCode.DONE);
  }

  @Test
  void withoutACommandOrWithAWrongOneItSaysHowToGoOn() {
    Result none = TestingRuns.draftmill();
    Result wrong = TestingRuns.draftmill("trian");
    Result option = TestingRuns.draftmill("plan", "--dataset", "x");

    assertThat(none.exitCode()).isEqualTo(ExitCode.UNUSABLE);
    assertThat(none.err()).isEqualTo("error: Which command?\nTry `draftmill --help`.\n");
    assertThat(wrong.exitCode()).isEqualTo(ExitCode.UNUSABLE);
    assertThat(option.exitCode()).isEqualTo(ExitCode.UNUSABLE);
    assertThat(option.err())
        .isEqualTo("error: Missing required option: '--out=DIR'\nTry `draftmill plan --help`.\n");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "run.sed=1|-D run.sed=1: unknown key run.sed. Did you mean run.seed?",
        "drafter.anchors=many|-D drafter.anchors=many: drafter.anchors must be a whole number, found 'many'.",
        "pool.max-ready=2|The pool would be full at pool.max-ready = 2 microbatches and wait for pool.min-ready = 3 of them.",
        "target.taps=7|The taps [7] name the layer 7, but the target has the layers 0 to 2: change target.taps.",
        "target.model=nowhere|nowhere",
        "jobs.dataset=nowhere|nowhere cannot be read: there is no such folder.",
        "jobs.token-budget=0|The token budget is 0; it must be at least 1 token.",
        "drafter.accumulation=3000|raise drafter.pass-rows = 16384, or lower drafter.accumulation = 3000",
        "run.dir=null|The option run.dir is missing",
        "run.dir=|The option run.dir is missing",
        "checkpoint.interval=0s|checkpoint.interval = 0 ms must be at least 10 ms.",
        "run.max-steps=0|run.max-steps = 0 must be at least 1.",
        "run.web-port=99999|run.web-port = 99999 must be 0 to 65535; 0 takes any free one.",
        "drafter.anchors=0|drafter.anchors is 0, but it must be at least 1.",
        "drafter.loss.gamma=0|drafter.loss.gamma is 0.0, but it must be above 0.",
        "drafter.loss.kl-weight=2|drafter.loss.kl-weight is 2.0, but it must be 0 to 1.",
        "drafter.max-skipped-steps=-1|drafter.max-skipped-steps = -1 must be at least 0.",
        "pool.max-memory=1kb|pool.max-memory = ",
        "flink.execution.checkpointing.unaligned.enabled=true|execution.checkpointing.unaligned.enabled is true, but the end of an optimizer step is marked in the stream",
      })
  void whatCannotBeUsedIsOneLineAndTwo(String override, String message) throws Exception {
    TestingRuns runs = TestingRuns.in(dir, 4, true);

    Result result = runs.train(override);

    assertThat(result.exitCode()).as(result.err()).isEqualTo(ExitCode.UNUSABLE);
    assertThat(result.err()).startsWith("error: ").contains(message).hasLineCount(1);
  }

  /** A run that is complete has nothing left to do, whatever its files have become. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "run.sed=1|unknown key run.sed. Did you mean run.seed?",
        "drafter.optimizer.lr=banana|drafter.optimizer.lr must be a number, found 'banana'.",
        "drafter.optimizer.lr=-1|drafter.optimizer.lr",
        "drafter.anchors=0|drafter.anchors is 0, but it must be at least 1.",
        "drafter.device=tpu|drafter.device",
        "pool.max-ready=2|The pool would be full at pool.max-ready = 2",
        "target.retries=-1|target.retries is -1; it must be at least 0.",
        "target.max-dead-letters=-1|target.max-dead-letters = -1 must be at least 0.",
        "jobs.epochs=0|The number of epochs is 0; it must be between 1 and 10000.",
        "checkpoint.interval=0s|checkpoint.interval = 0 ms must be at least 10 ms.",
        "run.restart-attempts=-1|run.restart-attempts = -1 must be at least 0.",
        "run.max-steps=0|run.max-steps = 0 must be at least 1.",
        "run.web-port=99999|run.web-port = 99999 must be 0 to 65535; 0 takes any free one.",
        "flink.execution.checkpointing.unaligned.enabled=true|unaligned.enabled is true",
      })
  void whatNoRunCanHaveIsRefusedOfARunThatIsComplete(String override, String message)
      throws Exception {
    TestingRuns runs = complete();

    Result result = runs.train(override);

    assertThat(result.exitCode()).as(result.err()).isEqualTo(ExitCode.UNUSABLE);
    assertThat(result.err()).startsWith("error: ").contains(message).hasLineCount(1);
  }

  @Test
  void whatAnotherRunCouldHaveChangesNothingOfARunThatIsComplete() throws Exception {
    TestingRuns runs = complete();

    Result result = runs.train("drafter.anchors=3", "jobs.epochs=2", "pool.min-ready=1");

    assertThat(result.exitCode()).as(result.err()).isEqualTo(ExitCode.DONE);
    assertThat(result.out()).contains("This run is complete");
  }

  /** Only what says so is there; the target and the dataset are gone. */
  private TestingRuns complete() throws Exception {
    TestingRuns runs = TestingRuns.in(dir, 1, true);
    Folders.delete(dir.resolve("target"));
    Folders.delete(dir.resolve("data"));
    Files.createDirectories(runs.runDirectory());
    Files.writeString(
        runs.runDirectory().resolve("summary.json"),
        """
        {"steps": 1, "jobs": 1, "tokens": 10, "seconds": 1.0, "tokens_per_second": 10.0,
         "drafter": "export/latest", "weights_sha256": "0"}
        """);
    return runs;
  }

  @Test
  void aRunThatCannotFitIsRefusedBeforeItStarts() throws Exception {
    TestingRuns runs = TestingRuns.in(dir, 4, true);

    Result result = runs.train("pool.max-ready=1000000000", "pool.max-memory=100tb");

    assertThat(result.exitCode()).as(result.err()).isEqualTo(ExitCode.UNUSABLE);
    assertThat(result.err()).contains("The largest part is pool");
  }

  @Test
  void aPlanIsMadeInspectedAndFoundDamaged() throws Exception {
    TestingRuns.in(dir, 30, true);
    String plan = dir.resolve("plan").toString();
    Result made =
        TestingRuns.draftmill(
            "plan",
            "--dataset",
            dir.resolve("data").toString(),
            "--out",
            plan,
            "--token-budget",
            "64",
            "--epochs",
            "2",
            "--bucket-bounds",
            "16,32");
    assertThat(made.exitCode()).as(made.err()).isEqualTo(ExitCode.DONE);
    assertThat(made.out())
        .contains("jobs in 2 epochs")
        .contains("17-32")
        .endsWith("plan: " + plan + "\n");

    assertThat(TestingRuns.draftmill("inspect", plan).out())
        .contains("every checksum and total is right");
    assertThat(TestingRuns.draftmill("inspect", dir.resolve("data").toString()).out())
        .contains("every checksum, row and total is right");

    Path list = Path.of(plan, "epoch-0001.jobs");
    byte[] bytes = Files.readAllBytes(list);
    bytes[bytes.length / 2] ^= 1;
    Files.write(list, bytes);
    Result damaged = TestingRuns.draftmill("inspect", plan);
    assertThat(damaged.exitCode()).isEqualTo(ExitCode.UNUSABLE);
    assertThat(damaged.err()).contains("epoch-0001.jobs").hasLineCount(1);
  }

  @Test
  void whatIsNothingOfOursCannotBeInspected() {
    Result result = TestingRuns.draftmill("inspect", dir.toString());

    assertThat(result.exitCode()).isEqualTo(ExitCode.UNUSABLE);
    assertThat(result.err()).contains("nothing to inspect");
  }
}
