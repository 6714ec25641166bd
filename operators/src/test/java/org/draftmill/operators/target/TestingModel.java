package org.draftmill.operators.target;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.draftmill.corpus.TokenizedSequence;
import org.draftmill.corpus.dataset.Dataset;
import org.draftmill.corpus.dataset.DatasetManifest;
import org.draftmill.corpus.dataset.DatasetWriter;
import org.draftmill.corpus.plan.BucketBounds;
import org.draftmill.corpus.plan.Oversized;
import org.draftmill.corpus.plan.PlanOptions;
import org.draftmill.corpus.plan.PlanWriter;

/** A real, tiny target of the test resources, and datasets and plans for it. */
public final class TestingModel {
  public static final int VOCABULARY = 160;
  public static final int HIDDEN = 48;
  public static final int TOKEN_BUDGET = 96;

  private TestingModel() {}

  /** The model's folder. */
  public static Path folder() {
    try {
      return Path.of(TestingModel.class.getResource("/targets/qwen3-wide-head/config.json").toURI())
          .getParent();
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Writes {@code directory/dataset} and {@code directory/plan}. */
  public static void write(Path directory, int sequences, int epochs) throws IOException {
    Path dataset = directory.resolve("dataset");
    try (DatasetWriter writer = new DatasetWriter(dataset)) {
      Random random = new Random(11);
      for (int i = 0; i < sequences; i++) {
        writer.write(sequence(random));
      }
      writer.finish(new DatasetManifest.Origin("testing", "0".repeat(64), 64), Map.of());
    }
    PlanOptions options =
        new PlanOptions(
            5, epochs, TOKEN_BUDGET, new BucketBounds(List.of(16, 64)), Oversized.OWN_JOB);
    PlanWriter.write(
        Dataset.open(dataset).planInput(),
        options,
        Files.createDirectories(directory.resolve("plan")));
  }

  private static TokenizedSequence sequence(Random random) {
    int length = random.nextInt(3, 50);
    int[] ids = random.ints(length, 0, VOCABULARY).toArray();
    byte[] mask = new byte[length];
    for (int i = length / 3; i < length; i++) {
      mask[i] = 1;
    }
    return new TokenizedSequence(ids, mask);
  }
}
