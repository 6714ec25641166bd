package org.draftmill.job.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.draftmill.compute.InputException;
import org.draftmill.job.run.RunDirectory;
import org.draftmill.job.run.SavedState;
import org.draftmill.job.run.TestingStates;
import org.draftmill.operators.drafter.state.MetadataChecksums;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ContinuationTest {
  private static final long STEPS = 50;

  @TempDir Path dir;

  private RunDirectory run;

  @BeforeEach
  void makeRun() {
    run = RunDirectory.create(dir);
  }

  @Test
  void withoutAnythingItBegins() throws Exception {
    assertThat(Continuation.of(run, STEPS).kind()).isEqualTo(Continuation.Kind.BEGIN);
  }

  @Test
  void goesOnFromTheLastStateThatTheLogIsNotAheadOf() throws Exception {
    log(0, 20);
    TestingStates.checkpoint(run, 2, 20);
    final Path last = TestingStates.checkpoint(run, 3, 30);

    Continuation continuation = Continuation.of(run, STEPS);

    assertThat(continuation.kind()).isEqualTo(Continuation.Kind.RESUME);
    assertThat(continuation.from().orElseThrow().path()).isEqualTo(last);
    assertThat(continuation.loggedSteps()).isEqualTo(20);
  }

  @Test
  void anOlderStateIsTakenWhereTheLogHoldsNoMoreThanThat() throws Exception {
    log(0, 20);
    Path older = TestingStates.checkpoint(run, 2, 20);
    damage(TestingStates.checkpoint(run, 3, 30));

    assertThat(Continuation.of(run, STEPS).from().orElseThrow().path()).isEqualTo(older);
  }

  @Test
  void aDamagedCheckpointWhoseStepsAreLoggedIsPassedOverWithAWarning() throws Exception {
    log(0, 15);
    log(15, 30);
    Path older = TestingStates.checkpoint(run, 2, 20);
    Path damaged = damage(TestingStates.checkpoint(run, 3, 30));

    Continuation continuation = Continuation.of(run, STEPS);

    assertThat(continuation.from().orElseThrow().path()).isEqualTo(older);
    assertThat(continuation.steps()).isEqualTo(20);
    assertThat(continuation.warnings())
        .containsExactly(
            damaged + " is damaged, its _metadata cannot be read.",
            "the run goes on from chk-2: the steps 20 to 29 are trained again, to the same weights;"
                + " their rows of the training log are kept in log/replaced/");

    continuation.rollBack(run);

    assertThat(TrainingLog.read(run.log()))
        .extracting(TrainingLog.Row::step)
        .containsExactlyElementsOf(LongStream.range(0, 20).boxed().toList());
    assertThat(Files.readAllLines(run.log().resolve("replaced/training-15.jsonl"))).hasSize(15);
    Continuation again = Continuation.of(run, STEPS);
    assertThat(again.loggedSteps()).isEqualTo(20);
    assertThat(again.warnings()).as("said once").isEmpty();
    SavedState.prune(run, 1);
    assertThat(older).as("what the run goes on from").exists();
    assertThat(damaged).as("set aside, not deleted").exists();
  }

  @Test
  void rowsThatAreTakenBackTwiceAreAllKept() throws Exception {
    log(15, 30);
    TrainingLog.rollBack(run.log(), 20);
    Files.delete(run.log().resolve("training-15.jsonl"));
    log(15, 25);
    TrainingLog.rollBack(run.log(), 18);

    Path replaced = run.log().resolve("replaced");
    assertThat(Files.readAllLines(replaced.resolve("training-15.jsonl"))).hasSize(15);
    assertThat(Files.readAllLines(replaced.resolve("training-15.jsonl.2"))).hasSize(10);
    assertThat(Files.readAllLines(run.log().resolve("training-15.jsonl"))).hasSize(3);
  }

  @Test
  void aStateThatTheUserNamesMustBeWhole() throws Exception {
    log(0, 30);
    Path savepoint = TestingStates.savepoint(run, 5, 20);
    new MetadataChecksums(run.checkpoints()).record(savepoint);
    Path moved = dir.resolve("backup").resolve(savepoint.getFileName());
    Files.createDirectories(moved.getParent());
    Files.move(savepoint, moved);

    Continuation continuation = Continuation.from(run, moved.toUri().toString()).orElseThrow();
    assertThat(continuation.steps()).isEqualTo(20);
    assertThat(continuation.warnings())
        .containsExactly(
            "the run goes on from savepoint-5: the steps 20 to 29 are trained again, to the same"
                + " weights; their rows of the training log are kept in log/replaced/");
    assertThat(Continuation.from(run, moved.resolve("_metadata").toString())).isPresent();
    assertThat(Continuation.from(run, "s3://bucket/savepoint-5")).isEmpty();

    byte[] bytes = Files.readAllBytes(moved.resolve("_metadata"));
    bytes[bytes.length - 1] ^= 4;
    Files.write(moved.resolve("_metadata"), bytes);
    assertThatThrownBy(() -> Continuation.from(run, moved.toString()))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("savepoint-5 is damaged: the checksum of its _metadata");
    assertThatThrownBy(() -> Continuation.from(run, dir.resolve("nothing").toString()))
        .isInstanceOf(org.draftmill.corpus.InputException.class)
        .hasMessageEndingWith("nothing cannot be read: there is no such folder.");
    assertThatThrownBy(() -> Continuation.from(run, dir.toString()))
        .isInstanceOf(InputException.class)
        .hasMessageEndingWith(" is no savepoint or checkpoint: there is no _metadata in it.");
  }

  @Test
  void aLogWithoutAnyStateIsRefused() throws Exception {
    log(0, 30);

    assertThatThrownBy(() -> Continuation.of(run, STEPS))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("holds 30 of 50 steps, but there is no checkpoint")
        .hasMessageEndingWith("Start anew with --fresh or another run.dir.");

    Path damaged = damage(TestingStates.checkpoint(run, 3, 30));
    assertThatThrownBy(() -> Continuation.of(run, STEPS))
        .isInstanceOf(InputException.class)
        .hasMessageContaining(damaged + " is damaged");
  }

  @Test
  void aWholeLogIsCompleteOnlyWithTheFinalDrafter() throws Exception {
    log(0, 50);
    assertThatThrownBy(() -> Continuation.of(run, STEPS)).isInstanceOf(InputException.class);

    Files.createDirectories(run.export().resolve("step-00000050"));

    assertThat(Continuation.of(run, STEPS).kind()).isEqualTo(Continuation.Kind.COMPLETE);
  }

  @Test
  void deadLettersOfTheLastMomentAreFetchedFromTheLastCheckpoint() throws Exception {
    log(0, 50);
    Files.createDirectories(run.export().resolve("step-00000050"));
    Files.createDirectories(run.deadLetters());
    Files.createFile(run.deadLetters().resolve(".dead-letter-a-0.jsonl.inprogress.b"));
    TestingStates.checkpoint(run, 3, 40);
    assertThat(Continuation.of(run, STEPS).kind()).isEqualTo(Continuation.Kind.COMPLETE);

    Path last = TestingStates.checkpoint(run, 4, 50);

    Continuation continuation = Continuation.of(run, STEPS);
    assertThat(continuation.kind()).isEqualTo(Continuation.Kind.RESUME);
    assertThat(continuation.from().orElseThrow().path()).isEqualTo(last);
    assertThat(continuation.warnings()).isEmpty();

    // A job that ended has fetched them, whatever savepoint is still there.
    assertThat(Continuation.isTrained(run, STEPS)).isTrue();
  }

  @Test
  void aLogWithAStepTwiceOrMissingIsRefused() throws Exception {
    log(0, 10);
    log(12, 20);

    assertThatThrownBy(() -> Continuation.of(run, STEPS))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("holds step 12 where step 10 should be");
  }

  private void log(int from, int to) throws IOException {
    Files.writeString(
        run.log().resolve("training-" + from + ".jsonl"),
        IntStream.range(from, to)
            .mapToObj(step -> "{\"step\": %d, \"jobs\": [%d]}\n".formatted(step, step))
            .collect(Collectors.joining()));
  }

  private static Path damage(Path checkpoint) throws IOException {
    Files.write(checkpoint.resolve("_metadata"), new byte[7]);
    return checkpoint;
  }
}
