package org.draftmill.job.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.Configuration;
import org.draftmill.compute.InputException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RunFileTest {
  private static final String FILE =
      """
      run: {dir: runs/a, seed: 7}
      checkpoint:
        interval: 10s   # often
        keep: 2
      """;

  @Test
  void readsNestedGroupsWithTheTypesOfTheirOptions() {
    Configuration run = RunFile.parse("run.yaml", FILE, List.of());

    assertThat(run.get(RunOptions.DIR)).isEqualTo("runs/a");
    assertThat(run.get(RunOptions.SEED)).isEqualTo(7L);
    assertThat(run.get(CheckpointOptions.INTERVAL)).isEqualTo(Duration.ofSeconds(10));
    assertThat(run.get(CheckpointOptions.KEEP)).isEqualTo(2);
    assertThat(run.get(RunOptions.RESTART_ATTEMPTS)).isEqualTo(6);
  }

  @Test
  void overridesGoBeforeTheFile() {
    Configuration run =
        RunFile.parse("run.yaml", FILE, List.of("run.seed=9", "checkpoint.keep = null"));

    assertThat(run.get(RunOptions.SEED)).isEqualTo(9L);
    assertThat(run.get(CheckpointOptions.KEEP)).isEqualTo(CheckpointOptions.KEEP.defaultValue());
  }

  @Test
  void handsFlinkItsOwnKeys() {
    Configuration run = RunFile.parse("run.yaml", "", List.of("flink.rest.port=9000"));

    assertThat(run.getString("flink.rest.port", null)).isEqualTo("9000");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "checkpoint: {intervall: 5s}|run.yaml, line 1: unknown key checkpoint.intervall. Did you mean checkpoint.interval?",
        "\"run:\\n  dir: a\\n  seed: many\"|run.yaml, line 3: run.seed must be a whole number, found 'many'.",
        "checkpoint: {interval: soon}|run.yaml, line 1: checkpoint.interval must be a duration such as 30s or 5min, found 'soon'.",
        "\"run:\\n  dir: a\\n  dir: b\"|run.yaml, line 3: run.dir was already given (run.yaml, line 2); keep one.",
        "run: 5|run.yaml, line 1: run is a group of options, it takes no value of its own.",
        "nothing-like-it: 5|run.yaml, line 1: unknown key nothing-like-it. docs/options.md lists all of them.",
        "[1, 2]|run.yaml, line 1: expected groups of options such as `run: {dir: …}`, found another value.",
      })
  void saysWhatIsWrongAndWhere(String yaml, String message) {
    String text = yaml.replace("\\n", "\n");
    assertThatThrownBy(() -> RunFile.parse("run.yaml", text, List.of()))
        .isInstanceOf(InputException.class)
        .hasMessage(message);
  }

  @Test
  void namesTheLineThatIsNoYaml() {
    assertThatThrownBy(() -> RunFile.parse("run.yaml", "run:\n  dir: [a\n", List.of()))
        .isInstanceOf(InputException.class)
        .hasMessageStartingWith("run.yaml, line ")
        .hasMessageContaining("not valid YAML");
  }

  @Test
  void namesAnOverrideThatIsWrong() {
    assertThatThrownBy(() -> RunFile.parse("run.yaml", "", List.of("run.sed=1")))
        .hasMessage("-D run.sed=1: unknown key run.sed. Did you mean run.seed?");
    assertThatThrownBy(() -> RunFile.parse("run.yaml", "", List.of("run.seed")))
        .hasMessage("-D run.seed: expected key=value, for example -D drafter.parallelism=2.");
  }

  @Test
  void namesAFileThatCannotBeRead(@TempDir Path dir) throws Exception {
    Path binary = Files.write(dir.resolve("b.yaml"), new byte[] {(byte) 0xff, (byte) 0xfe, 0, 1});

    assertThatThrownBy(() -> RunFile.read(dir.resolve("none.yaml"), List.of()))
        .isInstanceOf(InputException.class)
        .hasMessage(dir.resolve("none.yaml") + " cannot be read: there is no such file.");
    assertThatThrownBy(() -> RunFile.read(binary, List.of()))
        .isInstanceOf(InputException.class)
        .hasMessage(binary + " is not UTF-8 text: is it what its name says?");
  }

  @Test
  void theResolvedFileGivesTheSameRun(@TempDir Path dir) throws Exception {
    Configuration run =
        RunFile.parse("run.yaml", FILE, List.of("flink.taskmanager.network.memory.max=1gb"));
    Path resolved = dir.resolve("run.yaml");
    Files.writeString(resolved, ResolvedRunFile.render(run), StandardCharsets.UTF_8);

    Configuration again = RunFile.read(resolved, List.of());

    for (ConfigOption<?> option : KnownOptions.byKey().values()) {
      assertThat((Object) again.get(option)).as(option.key()).isEqualTo(run.get(option));
    }
    assertThat(again.getString("flink.taskmanager.network.memory.max", null)).isEqualTo("1gb");
  }

  @Test
  void aNameFarFromAllHasNoNearest() {
    assertThat(NearestName.distance("kitten", "sitting")).isEqualTo(3);
    assertThat(NearestName.of("xyz", List.of("drafter.layers"))).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "a: &a {b: *a}",
        "a: &a {x: 1}\nb: {c: *a}",
        "a: &a {x: 1, y: 2}\nb: &b {x: *a, y: *a}\nc: &c {x: *b, y: *b}\nd: {x: *c, y: *c}"
      })
  void aliasesOfGroupsAreRefused(String yaml) {
    assertThatThrownBy(() -> RunFile.parse("run.yaml", yaml, List.of()))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("Number of aliases for non-scalar nodes exceeds");
  }

  @Test
  void whatIsNestedWithoutEndIsRefused() {
    for (String opening : new String[] {"[", "{a: ", "- "}) {
      assertThatThrownBy(
              () -> RunFile.parse("run.yaml", "run: " + opening.repeat(50_000), List.of()))
          .as(opening)
          .isInstanceOf(InputException.class)
          .hasMessageStartingWith("run.yaml");
    }
    String deep =
        IntStream.range(0, 3_000)
            .mapToObj(level -> " ".repeat(level) + "a:\n")
            .collect(Collectors.joining());
    assertThatThrownBy(() -> RunFile.parse("run.yaml", deep, List.of()))
        .isInstanceOf(InputException.class);
  }

  /** Whatever a file holds, it is read or refused: nothing else is thrown. */
  @Test
  void fuzzedFilesAreReadOrRefused() {
    String[] pieces = {
      "run:",
      " ",
      "\n",
      "  dir: x",
      "[",
      "]",
      "{",
      "}",
      "&a",
      "*a",
      ":",
      "- ",
      "null",
      "\t",
      "1e9",
      "drafter:\n  anchors: ",
      "flink:",
      "'",
      "\"",
      "#",
      "!!int",
      "\u0000",
      "ä",
      "|",
      "%YAML 1.2\n---\n"
    };
    Random random = new Random(41);
    for (int round = 0; round < 3_000; round++) {
      StringBuilder yaml = new StringBuilder();
      for (int i = random.nextInt(25); i > 0; i--) {
        yaml.append(pieces[random.nextInt(pieces.length)]);
      }
      try {
        RunFile.parse("run.yaml", yaml.toString(), List.of());
      } catch (InputException e) {
        assertThat(e.getMessage()).contains("run.yaml");
      }
    }
  }
}
