package org.draftmill.job.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.draftmill.compute.InputException;
import org.draftmill.compute.io.Folders;
import org.draftmill.job.TestingProcess;
import org.draftmill.job.TestingRuns;
import org.draftmill.job.console.ExitCode;
import org.draftmill.job.run.FlinkCheckpoint;
import org.draftmill.job.run.RunDirectory;
import org.draftmill.job.run.SavedState;
import org.draftmill.operators.drafter.state.MetadataChecksums;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** One interrupted run, damaged in every way: what is wrong is said before a cluster starts. */
@Timeout(1800)
class DamagedRunITCase {
  private static final Duration PATIENCE = Duration.ofMinutes(10);

  @TempDir static Path dir;

  private static TestingRuns runs;
  private static RunDirectory run;
  private static long steps;

  @BeforeAll
  static void interruptARun() throws Exception {
    runs = TestingRuns.in(dir.resolve("work"), 40, true);
    run = new RunDirectory(runs.runDirectory());
    // Killed at any moment, so perhaps before what the tests need is there: then it goes on.
    for (int tries = 0; !holdsWhatIsDamaged() || Files.exists(run.summary()); tries++) {
      assertThat(tries).as("runs, the last of which said: %s", said()).isLessThan(20);
      if (Files.exists(run.summary())) { // it ended before it was looked at
        Folders.delete(runs.runDirectory());
      }
      Process process = TestingProcess.train(dir.resolve("process.out"), runs, OVERRIDES);
      try {
        await()
            .atMost(PATIENCE)
            .ignoreExceptionsMatching(DamagedRunITCase::isOfACheckpointThatIsReplaced)
            .until(() -> !process.isAlive() || holdsWhatIsDamaged());
      } finally {
        process.destroyForcibly().waitFor();
      }
    }
    copy(dir.resolve("work"), dir.resolve("sound"));
    steps = ResolvedRun.of(options()).steps();
  }

  private static boolean isOfACheckpointThatIsReplaced(Throwable e) {
    return e instanceof NoSuchFileException || e instanceof InputException;
  }

  /** Rows of the log, and two checkpoints of different steps whose checksums are known. */
  private static boolean holdsWhatIsDamaged() throws IOException {
    List<SavedState> states = SavedState.list(run.checkpoints());
    if (states.size() < 2 || Continuation.of(run, Long.MAX_VALUE).loggedSteps() == 0) {
      return false;
    }
    MetadataChecksums known = new MetadataChecksums(run.checkpoints());
    Path newest = states.get(0).path();
    Path older = states.get(1).path();
    return known.of(newest).isPresent()
        && known.of(older).isPresent()
        && step(newest) > step(older)
        && step(older) > 0;
  }

  private static long step(Path checkpoint) throws IOException {
    return FlinkCheckpoint.read(checkpoint).drafters().get(0).step();
  }

  private static String said() throws IOException {
    Path output = dir.resolve("process.out");
    return Files.exists(output) ? Files.readString(output) : "";
  }

  private static final String[] OVERRIDES = {
    "checkpoint.interval=300ms", "jobs.epochs=40", "target.parallelism=1"
  };

  private static org.apache.flink.configuration.Configuration options() {
    return org.draftmill.job.config.RunFile.read(runs.file(), List.of(OVERRIDES));
  }

  @BeforeEach
  void makeSound() throws IOException {
    Folders.delete(dir.resolve("work"));
    copy(dir.resolve("sound"), dir.resolve("work"));
  }

  private static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> files = Files.walk(from)) {
      for (Path file : (Iterable<Path>) files::iterator) {
        Path target = to.resolve(from.relativize(file).toString());
        if (Files.isSymbolicLink(file)) {
          Files.createSymbolicLink(target, Files.readSymbolicLink(file));
        } else {
          Files.copy(file, target, StandardCopyOption.REPLACE_EXISTING);
        }
      }
    }
  }

  private static void flip(Path file) throws IOException {
    byte[] bytes = Files.readAllBytes(file);
    bytes[bytes.length / 2] ^= 0x10;
    Files.write(file, bytes);
  }

  private static Path newest() {
    return SavedState.list(run.checkpoints()).get(0).path();
  }

  private static Path drafterState(Path checkpoint) throws IOException {
    String reference = FlinkCheckpoint.read(checkpoint).drafters().get(1).path();
    return run.root().resolve(reference);
  }

  private static TestingRuns.Result train(String... more) {
    List<String> overrides = new ArrayList<>(List.of(OVERRIDES));
    overrides.addAll(List.of(more));
    return runs.train(overrides.toArray(String[]::new));
  }

  /** Refused as unusable, and no cluster was started for it. */
  private static void assertRefused(TestingRuns.Result result, String... said) {
    assertThat(result.exitCode()).as(result.out() + result.err()).isEqualTo(ExitCode.UNUSABLE);
    assertThat(result.err()).contains(said).startsWith("error: ").hasLineCount(1);
    assertThat(result.out()).doesNotContain("web UI");
  }

  @ParameterizedTest
  @ValueSource(strings = {"metadata", "metadata cut", "state file", "drafter", "drafter gone"})
  void aDamagedCheckpointIsPassedOver(String damage) throws Exception {
    Path newest = newest();
    long before = Continuation.of(run, steps).steps();
    switch (damage) {
      case "metadata" -> flip(newest.resolve("_metadata"));
      case "metadata cut" -> Files.write(newest.resolve("_metadata"), new byte[100]);
      case "state file" -> {
        var file = FlinkCheckpoint.read(newest).files().get(0).getFilePath();
        Files.delete(Path.of(file.toUri().getPath()));
      }
      case "drafter" -> flip(drafterState(newest));
      case "drafter gone" -> Files.delete(drafterState(newest));
      default -> throw new AssertionError(damage);
    }

    Continuation continuation = Continuation.of(run, steps);

    assertThat(continuation.from().orElseThrow().path()).isNotEqualTo(newest);
    assertThat(continuation.steps()).isLessThan(before);
    assertThat(continuation.warnings().get(0)).containsAnyOf("damaged", "missing");
  }

  @Test
  void aRunThatPassesADamagedCheckpointOverEndsAsIfNothingHadBeen() throws Exception {
    flip(newest().resolve("_metadata"));

    TestingRuns.Result result = train();

    assertThat(result.exitCode()).as(result.err()).isEqualTo(ExitCode.DONE);
    assertThat(result.err()).contains("_metadata cannot be read");
    TestingRuns.requireEveryJobOnce(run.root());
    String weights = Summary.read(run.summary()).weightsSha256();
    Folders.delete(run.root());
    assertThat(train().exitCode()).isEqualTo(ExitCode.DONE);
    assertThat(Summary.read(run.summary()).weightsSha256()).isEqualTo(weights);
  }

  @Test
  void withoutASoundCheckpointEveryDamageIsNamed() throws Exception {
    List<SavedState> states = SavedState.list(run.checkpoints());
    for (SavedState state : states) {
      flip(state.path().resolve("_metadata"));
    }
    Path damaged = states.get(0).path();

    assertRefused(
        train(), "there is no checkpoint to go on from", damaged + " is damaged", "--fresh");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "run.seed=8 | run.seed = 7, but this one has run.seed = 8",
        "target.taps=0,2 | target.taps = [0, 1], but this one has target.taps = [0, 2]",
        "drafter.layers=2 | drafter.layers = 1, but this one has drafter.layers = 2",
        "drafter.block-size=5 | drafter.block-size = 4",
        "drafter.anchors=5 | drafter.anchors = 4",
        "drafter.accumulation=2 | drafter.accumulation = 3",
        "pool.min-ready=2 | pool.min-ready = 3"
      })
  void anotherRunIsRefusedByName(String option, String said) {
    assertRefused(train(option), "The checkpoint belongs to a run with ", said, "set ");
  }

  @Test
  void severalDifferencesAreNamedTogether() {
    assertRefused(train("run.seed=8", "drafter.anchors=5"), "run.seed = 8", "drafter.anchors = 5");
  }

  @Test
  void anotherTargetIsRefused() throws Exception {
    Path config = dir.resolve("work/target/config.json");
    Files.writeString(config, Files.readString(config).replace("10000.0", "20000.0"));

    assertRefused(train(), "a run with the target = ");
  }

  @Test
  void anotherTokenizerIsRefused() throws Exception {
    Path tokenizer = dir.resolve("work/target/tokenizer.json");
    Files.writeString(tokenizer, Files.readString(tokenizer).replace("\"t3\"", "\"u3\""));

    assertRefused(train(), "a run with the target's tokenizer = ");
  }

  @Test
  void aDamagedPlanIsRefused() throws Exception {
    flip(run.plan().resolve("epoch-0039.jobs"));

    assertRefused(train(), "epoch-0039.jobs is damaged", "checksum");
  }

  @Test
  void aDamagedDatasetIsRefused() throws Exception {
    flip(dir.resolve("work/data/data-00000.arrow"));

    assertRefused(train(), "data-00000.arrow", "is damaged or was replaced: its SHA-256 is");
  }

  @Test
  void whatIsDamagedOnPurposeMayBeReadUnverified() throws Exception {
    flip(dir.resolve("work/data/data-00000.arrow"));
    ResolvedRun resolved = ResolvedRun.of(options());
    assertThatThrownBy(() -> InputCheck.verify(resolved))
        .isInstanceOf(org.draftmill.corpus.InputException.class);

    var unverified = options();
    unverified.set(org.draftmill.operators.jobs.JobsOptions.VERIFY, false);
    InputCheck.verify(ResolvedRun.of(unverified));
  }

  @Test
  void aTargetThatLacksALayerIsRefused() throws Exception {
    Path config = dir.resolve("work/target/config.json");
    Files.writeString(
        config,
        Files.readString(config).replace("\"num_hidden_layers\": 3", "\"num_hidden_layers\": 4"));

    assertRefused(train(), "4 layers (num_hidden_layers)", "model.layers.3.*");
  }

  @Test
  void aTruncatedTargetIsRefused() throws Exception {
    Path weights = dir.resolve("work/target/model.safetensors");
    byte[] whole = Files.readAllBytes(weights);
    Files.write(weights, java.util.Arrays.copyOf(whole, whole.length - 1000));

    assertRefused(train(), "model.safetensors", "truncated or damaged");
  }

  @Test
  void aDatasetOfAnotherTokenizerIsRefused() throws Exception {
    Path manifest = dir.resolve("work/data/dataset.json");
    assertThat(Files.readString(manifest)).contains("0".repeat(64));
    Folders.delete(dir.resolve("work/data"));
    TestingRuns.writeDataset(dir.resolve("work/data"), 40, true, "ab".repeat(32));
    Folders.delete(run.root());

    assertRefused(train(), "was prepared for tiny with a tokenizer whose SHA-256 is abab");
  }

  @Test
  void aPlanOfAnotherDatasetIsRefused() throws Exception {
    Folders.delete(dir.resolve("work/data"));
    TestingRuns.writeDataset(dir.resolve("work/data"), 41, true, "0".repeat(64));

    assertRefused(train(), "it was made for another dataset than jobs.dataset");
  }

  @Test
  void aDamagedTrainingLogIsRefused() throws Exception {
    Path log;
    try (Stream<Path> files = Files.list(run.log())) {
      log = files.filter(file -> file.toString().endsWith(".jsonl")).findFirst().orElseThrow();
    }
    byte[] whole = Files.readAllBytes(log);
    Files.write(log, java.util.Arrays.copyOf(whole, whole.length - 20));

    TestingRuns.Result result = train();
    assertRefused(result, "The training log " + log + " is damaged in line ");
    assertThat(result.err()).doesNotContain("REDACTED");
  }

  @Test
  void theStateIsWhatTheErrorsSayItIs() throws IOException {
    assertThat(FlinkCheckpoint.read(newest()).drafters()).hasSize(2);
    assertThatThrownBy(() -> FlinkCheckpoint.read(dir)).isInstanceOf(InputException.class);
  }
}
