package org.draftmill.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.draftmill.compute.io.Folders;
import org.draftmill.job.TestingRuns.Result;
import org.draftmill.job.console.ExitCode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a user named is no file or no folder: one line that says so, and two. */
class WrongFilesTest {
  private static final Path DEMO = Path.of("..", "demo").toAbsolutePath().normalize();

  @TempDir Path dir;

  /** What may lie where a file should. */
  private enum Fault {
    LOOP("it is a link that leads back to itself"),
    DANGLING("it is a link to something that is not there"),
    FOLDER("it is a folder"),
    PIPE("it is a pipe or a device"),
    SECRET("permission is denied");

    private final String said;

    Fault(String said) {
      this.said = said;
    }

    void putAt(Path file) throws IOException, InterruptedException {
      Folders.delete(file);
      switch (this) {
        case LOOP -> Files.createSymbolicLink(file, file.getFileName());
        case DANGLING -> Files.createSymbolicLink(file, Path.of("blob"));
        case FOLDER -> Files.createDirectory(file);
        case PIPE ->
            assumeTrue(new ProcessBuilder("mkfifo", file.toString()).start().waitFor() == 0);
        case SECRET -> {
          Files.writeString(file, "{}");
          Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("---------"));
          assumeFalse(Files.isReadable(file), "this user may read everything");
        }
      }
    }
  }

  private static void refused(Result result, Path name, String said) {
    assertThat(result.exitCode()).as(result.err()).isEqualTo(ExitCode.UNUSABLE);
    assertThat(result.err())
        .startsWith("error: ")
        .endsWith(name + " cannot be read: " + said + ".\n")
        .hasLineCount(1);
  }

  private static Stream<Arguments> faultsOf(String... files) {
    return Arrays.stream(files)
        .flatMap(file -> Arrays.stream(Fault.values()).map(fault -> Arguments.of(file, fault)));
  }

  static Stream<Arguments> ofARun() {
    return faultsOf(
        "run.yaml",
        "target/config.json",
        "target/generation_config.json",
        "target/model.safetensors",
        "target/tokenizer.json",
        "target/tokenizer_config.json",
        "data/dataset.json",
        "data/data-00000.arrow",
        "run/plan/plan.json",
        "run/plan/epoch-0000.jobs");
  }

  @ParameterizedTest
  @MethodSource("ofARun")
  void trainNamesIt(String file, Fault fault) throws Exception {
    TestingRuns runs = TestingRuns.in(dir, 30, true);
    Path plan = dir.resolve("run/plan");
    TestingRuns.draftmill(
        "plan",
        "--dataset",
        dir.resolve("data").toString(),
        "--out",
        plan.toString(),
        "--token-budget",
        "64",
        "--bucket-bounds",
        "16,32");
    fault.putAt(dir.resolve(file));

    refused(runs.train("pool.min-ready=1"), dir.resolve(file), fault.said);
  }

  static Stream<Arguments> ofAnEvaluation() {
    return faultsOf(
        "prompts.jsonl",
        "target/chat_template.jinja",
        "target/special_tokens_map.json",
        "target/tokenizer.json");
  }

  @ParameterizedTest
  @MethodSource("ofAnEvaluation")
  void evaluateNamesIt(String file, Fault fault) throws Exception {
    Path target = Files.createDirectory(dir.resolve("target"));
    for (String name : List.of("config.json", "tokenizer.json", "tokenizer_config.json")) {
      Files.copy(DEMO.resolve("target").resolve(name), target.resolve(name));
    }
    fault.putAt(dir.resolve(file));

    refused(evaluate(target, dir), dir.resolve(file), fault.said);
  }

  private Result evaluate(Path target, Path drafter) {
    return evaluate(target, drafter, dir.resolve("prompts.jsonl"));
  }

  private static Result evaluate(Path target, Path drafter, Path prompts) {
    return TestingRuns.draftmill(
        "evaluate",
        "--target",
        target.toString(),
        "--drafter",
        drafter.toString(),
        "--prompts",
        prompts.toString());
  }

  /** It never came to an end. */
  @Test
  void promptsWithoutAnEndAreRefused() {
    Path endless = Path.of("/dev/zero");
    assumeTrue(Files.exists(endless));

    refused(evaluate(DEMO.resolve("target"), dir, endless), endless, "it is a pipe or a device");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "evaluate --target NOWHERE --drafter x --prompts x",
        "prepare --target NOWHERE --input DIR --out DIR/out",
        "plan --dataset NOWHERE --out DIR/out",
        "export --checkpoint NOWHERE --out DIR/out",
        "inspect NOWHERE",
        "balance NOWHERE"
      })
  void aFolderThatIsNotThereIsSaidToBeNone(String command) {
    Path nowhere = dir.resolve("nowhere");

    Result result =
        TestingRuns.draftmill(
            command
                .replace("NOWHERE", nowhere.toString())
                .replace("DIR", dir.toString())
                .split(" "));

    refused(result, nowhere, "there is no such folder");
  }

  @Test
  void aDrafterThatIsNotThereIsSaidToBeNone() throws Exception {
    Files.writeString(dir.resolve("prompts.jsonl"), "{\"text\": \"Once\"}\n");
    Path nowhere = dir.resolve("nowhere");

    refused(
        evaluate(DEMO.resolve("target"), nowhere),
        nowhere.resolve("config.json"),
        "there is no folder " + nowhere);
  }

  @ParameterizedTest
  @ValueSource(strings = {"target.model", "jobs.dataset"})
  void aFolderOfTheRunFileThatIsNotThereIsSaidToBeNone(String option) throws Exception {
    TestingRuns runs = TestingRuns.in(dir, 4, true);
    Path nowhere = dir.resolve("nowhere");

    Result result = runs.train(option + "=" + nowhere);

    assertThat(result.exitCode()).as(result.err()).isEqualTo(ExitCode.UNUSABLE);
    assertThat(result.err()).contains("there is no").contains("folder").hasLineCount(1);
  }
}
