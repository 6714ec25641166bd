package org.draftmill.job.train;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.draftmill.compute.io.Folders;
import org.draftmill.corpus.TokenizedSequence;
import org.draftmill.corpus.dataset.DatasetManifest;
import org.draftmill.corpus.dataset.DatasetWriter;
import org.draftmill.corpus.io.ByteSources;
import org.draftmill.corpus.plan.Plan;
import org.draftmill.job.TestingModels;
import org.draftmill.job.TestingRuns;
import org.draftmill.job.console.ExitCode;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A target whose states of some texts are not numbers. */
@Timeout(1800)
class PoisonedTargetITCase {
  private static final int POISON = TestingModels.VOCABULARY - 2;

  /** Of 40 texts, those that hold the token. */
  private static final List<Integer> POISONED = List.of(3, 19);

  @TempDir Path dir;

  private TestingRuns runs;

  @BeforeEach
  void prepare() throws IOException {
    runs = TestingRuns.in(dir, 1, true);
    Folders.delete(dir.resolve("target"));
    TestingModels.poisoned(dir.resolve("target"), POISON);
    Folders.delete(dir.resolve("data"));
    try (DatasetWriter writer = new DatasetWriter(dir.resolve("data"))) {
      for (int s = 0; s < 40; s++) {
        int[] ids = new int[20 + s % 7];
        byte[] mask = new byte[ids.length];
        for (int i = 0; i < ids.length; i++) {
          ids[i] = (7 * s + 3 * i) % POISON;
          mask[i] = 1;
        }
        if (POISONED.contains(s)) {
          ids[11] = POISON;
        }
        writer.write(new TokenizedSequence(ids, mask));
      }
      writer.finish(
          new DatasetManifest.Origin("tiny", DatasetManifest.UNKNOWN_TOKENIZER, 0), Map.of());
    }
  }

  private Summary completed(int targets, int drafters) throws IOException {
    TestingRuns.Result result =
        runs.train("target.parallelism=" + targets, "drafter.parallelism=" + drafters);
    assertThat(result.exitCode()).as(result.err()).isEqualTo(ExitCode.DONE);
    assertThat(result.out()).contains("left out: ");
    return Summary.read(runs.runDirectory().resolve("summary.json"));
  }

  @Test
  void deadJobsAreLeftOutOfEveryRunAlike() throws Exception {
    Summary one = completed(1, 1);
    long jobs = Plan.read(ByteSources.directory(runs.runDirectory().resolve("plan"))).jobs();
    final List<String> letters = deadLetters();
    Folders.delete(runs.runDirectory());
    Summary two = completed(2, 3);

    assertThat(one.deadLetters()).isBetween(1L, 2L);
    assertThat(one.jobs() + one.deadLetters()).isEqualTo(jobs);
    assertThat(one.skippedSteps()).isZero();
    assertThat(letters)
        .hasSize((int) one.deadLetters())
        .allMatch(letter -> letter.contains("not finite") && letter.contains("\"sequences\""));
    assertThat(deadLetters()).containsExactlyInAnyOrderElementsOf(letters);
    assertThat(two.deadLetters()).isEqualTo(one.deadLetters());
    assertThat(two.weightsSha256()).isEqualTo(one.weightsSha256());
  }

  private List<String> deadLetters() throws IOException {
    List<String> letters = new ArrayList<>();
    try (Stream<Path> files = Files.list(runs.runDirectory().resolve("dead-letter"))) {
      for (Path file : files.filter(f -> f.toString().endsWith(".jsonl")).toList()) {
        letters.addAll(Files.readAllLines(file));
      }
    }
    return letters;
  }

  @Test
  void moreThanAllowedFailTheRunWithoutARestart() {
    TestingRuns.Result result = runs.train("target.max-dead-letters=0");

    assertThat(result.exitCode()).isEqualTo(ExitCode.FAILED);
    assertThat(result.err())
        .contains("1 jobs could not be extracted, more than the 0 that target.max-dead-letters")
        .contains("not finite");
  }
}
