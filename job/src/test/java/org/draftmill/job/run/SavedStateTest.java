package org.draftmill.job.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.draftmill.compute.io.Folders;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SavedStateTest {
  @TempDir Path dir;

  private RunDirectory run;

  @BeforeEach
  void makeRun() {
    run = RunDirectory.create(dir);
  }

  @Test
  void tellsCompleteOnesFromDamagedOnes() throws Exception {
    TestingStates.checkpoint(run, 3, 30);
    Path damaged = TestingStates.checkpoint(run, 4, 40);
    Files.write(damaged.resolve("_metadata"), new byte[7]);
    TestingStates.savepoint(run, 5, 50);

    SavedState.Found found = SavedState.find(run.checkpoints());

    assertThat(found.complete()).extracting(SavedState::id).containsExactly(5L, 3L);
    assertThat(found.complete()).extracting(SavedState::isSavepoint).containsExactly(true, false);
    assertThat(found.damaged()).containsExactly(damaged);
  }

  @Test
  void filesOfDraftersGoWithTheirSavepointOnly() throws Exception {
    Path claimed = TestingStates.savepoint(run, 5, 50);
    TestingStates.drafters(run, "savepoint-4", 40); // of a savepoint that lies somewhere else
    ClaimedSavepoints.claim(run, SavedState.list(run.checkpoints()).get(0));

    SavedState.prune(run, 2);
    assertThat(steps()).containsExactly("step-00000040", "step-00000050");

    TestingStates.checkpoint(run, 6, 60);
    Folders.delete(claimed); // as Flink does
    SavedState.prune(run, 2);
    assertThat(steps()).containsExactly("step-00000040", "step-00000060");
  }

  @Test
  void aSavepointOfTheRunThatIsPrunedTakesItsFilesWithIt() throws Exception {
    TestingStates.savepoint(run, 5, 50);
    ClaimedSavepoints.claim(run, SavedState.list(run.checkpoints()).get(0));
    TestingStates.checkpoint(run, 6, 50);

    SavedState.prune(run, 1);

    assertThat(SavedState.list(run.checkpoints())).extracting(SavedState::id).containsExactly(6L);
    try (Stream<Path> files = Files.list(run.drafter().resolve("step-00000050"))) {
      assertThat(files.map(file -> file.getFileName().toString()))
          .hasSize(2)
          .allMatch(name -> name.startsWith("checkpoint-6."));
    }
  }

  @Test
  void bytesThatAreNoTextClaimNothing() throws Exception {
    Path savepoint = TestingStates.savepoint(run, 5, 50);
    byte[] damage = {(byte) 0xff, '\t', (byte) 0xc3, '\n'};
    Files.write(run.checkpoints().resolve("claimed-savepoints"), damage);
    Files.write(run.checkpoints().resolve("stopping"), damage);

    UnfinishedSavepoint.end(run);
    SavedState.prune(run, 0);

    assertThat(savepoint.resolve("_metadata")).exists();
    assertThat(steps()).containsExactly("step-00000050");
  }

  @Test
  void aSavepointOfTheUserStaysWithItsFilesEvenWhenTheRunHasEnded() throws Exception {
    TestingStates.savepoint(run, 5, 50);
    TestingStates.checkpoint(run, 6, 60);
    TestingStates.checkpoint(run, 7, 70);

    SavedState.prune(run, 1);
    assertThat(SavedState.list(run.checkpoints()))
        .extracting(SavedState::id)
        .containsExactly(7L, 5L);
    SavedState.prune(run, 0);
    assertThat(SavedState.list(run.checkpoints())).extracting(SavedState::id).containsExactly(5L);
    assertThat(steps()).contains("step-00000050");
  }

  @Test
  void anotherSavepointOfTheSameNumberKeepsItsFiles() throws Exception {
    Path own = TestingStates.savepoint(run, 5, 50);
    ClaimedSavepoints.claim(run, SavedState.list(run.checkpoints()).get(0));
    Path copy = run.checkpoints().resolve("savepoint-copy");
    Files.createDirectories(copy);
    Files.copy(own.resolve("_metadata"), copy.resolve("_metadata"));
    Path other = run.drafter().resolve("step-00000040/savepoint-5.9f8e.0-of-1.safetensors");
    Files.createDirectories(other.getParent());
    Files.createFile(other); // of a run that went on from a state before both
    Folders.delete(own);

    SavedState.prune(run, 2);

    assertThat(other).exists();
    assertThat(steps()).containsExactly("step-00000040");
  }

  @Test
  void filesOfAClaimedSavepointThatWasSetAsideStay() throws Exception {
    Path claimed = TestingStates.savepoint(run, 5, 50);
    ClaimedSavepoints.claim(run, SavedState.list(run.checkpoints()).get(0));
    SavedState.setAside(claimed);
    TestingStates.checkpoint(run, 6, 60);

    SavedState.prune(run, 1);

    assertThat(steps()).containsExactly("step-00000050", "step-00000060");
  }

  @Test
  void ofACompleteRunTheLastStatesOfTheDraftersStay() throws Exception {
    TestingStates.drafters(run, "checkpoint-3", 30);
    TestingStates.drafters(run, "savepoint-4", 40);
    SavedState.setAside(TestingStates.checkpoint(run, 5, 50));
    TestingStates.drafters(run, "checkpoint-6", 60);
    TestingStates.drafters(run, "checkpoint-7", 60);

    DrafterStates.keepLast(run);

    assertThat(steps()).containsExactly("step-00000040", "step-00000050", "step-00000060");
    try (Stream<Path> files = Files.list(run.drafter().resolve("step-00000060"))) {
      assertThat(files.map(file -> file.getFileName().toString()))
          .hasSize(2)
          .allMatch(name -> name.startsWith("checkpoint-7."));
    }
  }

  @Test
  void ofACompleteRunTheLastStatesAreThoseThatAllDraftersWrote() throws Exception {
    TestingStates.drafters(run, "checkpoint-9", 30); // of a run that went on from before it
    TestingStates.drafters(run, "checkpoint-7", 60);
    Path begun = run.drafter().resolve("step-00000060/checkpoint-8.9f8e.0-of-2.safetensors");
    Files.createFile(begun); // the job ended before the other drafter's was there

    DrafterStates.keepLast(run);

    assertThat(DrafterStates.newest(run.root()))
        .allMatch(file -> file.getFileName().toString().startsWith("checkpoint-7."));
  }

  @Test
  void whatWasSetAsideStays() throws Exception {
    Path chk = TestingStates.checkpoint(run, 4, 40);
    Path savepoint = TestingStates.savepoint(run, 5, 50);
    SavedState.setAside(chk);
    SavedState.setAside(savepoint);
    Path old = TestingStates.checkpoint(run, 3, 30);
    TestingStates.savepoint(run, 6, 60);

    SavedState.prune(run, 1);

    assertThat(chk.resolve("_metadata.damaged")).exists();
    assertThat(savepoint.resolve("_metadata.damaged")).exists();
    assertThat(old).doesNotExist();
  }

  @Test
  void whatTheSystemCannotReadIsNoDamage() throws Exception {
    Path metadata = TestingStates.checkpoint(run, 3, 30).resolve("_metadata");
    Files.delete(metadata);
    Files.createSymbolicLink(metadata, metadata.getFileName()); // to itself

    assertThatThrownBy(() -> SavedState.find(run.checkpoints()))
        .isInstanceOf(UncheckedIOException.class)
        .hasMessageContaining(metadata.getParent().toString());
    assertThatThrownBy(() -> FlinkCheckpoint.read(metadata.getParent()))
        .isExactlyInstanceOf(FileSystemException.class);
  }

  private List<String> steps() throws IOException {
    try (Stream<Path> steps = Files.list(run.drafter())) {
      return steps.map(step -> step.getFileName().toString()).sorted().toList();
    }
  }
}
