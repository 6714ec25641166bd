package org.draftmill.job.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
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
  void aSavepointThatIsPrunedTakesItsFilesWithIt() throws Exception {
    TestingStates.savepoint(run, 5, 50);
    TestingStates.checkpoint(run, 6, 50);

    SavedState.prune(run, 1);

    assertThat(SavedState.list(run.checkpoints())).extracting(SavedState::id).containsExactly(6L);
    try (Stream<Path> files = Files.list(run.drafter().resolve("step-00000050"))) {
      assertThat(files.map(file -> file.getFileName().toString()))
          .hasSize(2)
          .allMatch(name -> name.startsWith("checkpoint-6."));
    }
  }

  private List<String> steps() throws IOException {
    try (Stream<Path> steps = Files.list(run.drafter())) {
      return steps.map(step -> step.getFileName().toString()).sorted().toList();
    }
  }
}
