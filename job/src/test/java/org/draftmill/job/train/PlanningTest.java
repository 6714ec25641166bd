package org.draftmill.job.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.draftmill.corpus.InputException;
import org.draftmill.corpus.TokenizedSequence;
import org.draftmill.corpus.dataset.Dataset;
import org.draftmill.corpus.dataset.DatasetManifest;
import org.draftmill.corpus.dataset.DatasetWriter;
import org.draftmill.corpus.plan.BucketBounds;
import org.draftmill.corpus.plan.Oversized;
import org.draftmill.corpus.plan.Plan;
import org.draftmill.corpus.plan.PlanOptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PlanningTest {
  @TempDir Path dir;

  @Test
  void aPlanIsMadeWhenAbsentAndTakenWhenItAgrees() throws Exception {
    Dataset dataset = dataset("data", 5);

    Plan made = Planning.planOf(dataset, dir.resolve("plan"), options(2, 16));
    byte[] bytes = Files.readAllBytes(dir.resolve("plan").resolve(Plan.FILE));
    Plan taken = Planning.planOf(dataset, dir.resolve("plan"), options(2, 16));

    assertThat(taken.manifest()).isEqualTo(made.manifest());
    assertThat(Files.readAllBytes(dir.resolve("plan").resolve(Plan.FILE))).isEqualTo(bytes);
  }

  @Test
  void everyDifferenceIsNamed() throws Exception {
    Path plan = dir.resolve("plan");
    Planning.planOf(dataset("data", 5), plan, options(2, 16));
    Dataset other = dataset("other", 6);

    assertThatThrownBy(() -> Planning.planOf(other, plan, options(3, 32)))
        .isInstanceOf(InputException.class)
        .hasMessage(
            "The plan in %s does not agree with this run: it was made for another dataset than jobs.dataset = %s; jobs.epochs was 2 and is 3; jobs.token-budget was 16 and is 32. Change the options, or give another jobs.plan."
                .formatted(plan, dir.resolve("other")));
  }

  private static PlanOptions options(int epochs, int budget) {
    return new PlanOptions(7, epochs, budget, new BucketBounds(List.of(8)), Oversized.OWN_JOB);
  }

  private Dataset dataset(String name, int sequences) throws IOException {
    Path directory = dir.resolve(name);
    try (DatasetWriter writer = new DatasetWriter(directory)) {
      for (int i = 0; i < sequences; i++) {
        writer.write(new TokenizedSequence(new int[4 + i], new byte[4 + i]));
      }
      writer.finish(new DatasetManifest.Origin("tiny", "0".repeat(64), 0), Map.of());
    }
    return Dataset.open(directory);
  }
}
