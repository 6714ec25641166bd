package org.draftmill.corpus;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.draftmill.corpus.dataset.ArrowShardWriter;
import org.draftmill.corpus.dataset.Dataset;
import org.draftmill.corpus.io.ByteSources;
import org.draftmill.corpus.plan.JobIterator;
import org.draftmill.corpus.plan.Plan;
import org.draftmill.corpus.plan.PlanWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The first version of every format, as bytes that were written once and are never written again:
 * they can be read for ever, and as long as it is the current version the same input gives them.
 */
class FirstVersionTest {
  private static Path folder(String name) throws URISyntaxException {
    return Path.of(FirstVersionTest.class.getResource("v1/" + name).toURI());
  }

  private static List<TokenizedSequence> sequences() {
    List<TokenizedSequence> sequences = new ArrayList<>();
    for (int length = 1; length <= 12; length++) {
      int[] ids = new int[length];
      byte[] mask = new byte[length];
      for (int i = 0; i < length; i++) {
        ids[i] = 100 * length + i;
        mask[i] = (byte) (length == 1 || i % 2 == length % 2 ? 1 : 0);
      }
      sequences.add(new TokenizedSequence(ids, mask));
    }
    return sequences;
  }

  @Test
  void theDatasetIsRead() throws Exception {
    Dataset dataset = Dataset.open(folder("dataset"));

    dataset.verify();
    assertThat(dataset.size()).isEqualTo(12);
    for (int id = 0; id < 12; id++) {
      assertThat(dataset.sequence(id)).isEqualTo(sequences().get(id));
    }
    assertThat(dataset.manifest().rejected()).isEqualTo(Map.of("no-prefix", 1L, "too-long", 2L));
    assertThat(dataset.manifest().target()).isEqualTo("demo");
  }

  @Test
  void theShardsAreStillWrittenSo() throws Exception {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (ArrowShardWriter writer = new ArrowShardWriter(out, Map.of())) {
      for (TokenizedSequence sequence : sequences().subList(0, 9)) {
        writer.write(sequence);
      }
      writer.finish();
    }

    assertThat(out.toByteArray())
        .isEqualTo(Files.readAllBytes(folder("dataset").resolve("data-00000.arrow")));
  }

  @Test
  void thePlanIsRead() throws Exception {
    Plan plan = Plan.read(ByteSources.directory(folder("plan")));

    plan.verify();
    List<Long> ids = new ArrayList<>();
    try (JobIterator jobs = plan.jobList(1).iteratorFrom(0)) {
      jobs.forEachRemaining(
          job -> {
            for (long id : job.sequences()) {
              ids.add(id);
            }
          });
    }
    assertThat(ids).doesNotHaveDuplicates().hasSize(12);
  }

  @Test
  void theSameInputStillGivesThePlan(@TempDir Path directory)
      throws IOException, URISyntaxException {
    Plan first = Plan.read(ByteSources.directory(folder("plan")));

    PlanWriter.write(
        Dataset.open(folder("dataset")).planInput(), first.manifest().options(), directory);

    for (String file : new String[] {"plan.json", "epoch-0000.jobs", "epoch-0001.jobs"}) {
      assertThat(directory.resolve(file)).hasSameBinaryContentAs(folder("plan").resolve(file));
    }
  }
}
