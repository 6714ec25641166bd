package org.draftmill.corpus.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.draftmill.corpus.InputException;
import org.draftmill.corpus.dataset.DatasetAssembler;
import org.draftmill.corpus.io.ByteSources;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PlanTest {
  private static final int[] LENGTHS = PlanBuilderTest.lengths(3, 1_000, 900);

  @TempDir private Path directory;

  private static PlanInput input(int[] lengths) {
    long tokens = Arrays.stream(lengths).asLongStream().sum();
    return new PlanInput(PlanBuilderTest.DATASET, lengths, tokens / 2, id -> lengths[(int) id] / 2);
  }

  private static PlanOptions options(int epochs, Oversized oversized) {
    return new PlanOptions(11, epochs, 500, BucketBounds.parse("0,50,400"), oversized);
  }

  private PlanManifest write(int epochs) throws IOException {
    return PlanWriter.write(input(LENGTHS), options(epochs, Oversized.OWN_JOB), directory);
  }

  private Plan read() throws IOException {
    return Plan.read(ByteSources.directory(directory));
  }

  @Test
  void aPlanIsReadAsItWasWritten() throws IOException {
    PlanManifest written = write(3);

    Plan plan = read();

    assertThat(plan.manifest()).isEqualTo(written);
    assertThat(plan.manifest().options()).isEqualTo(options(3, Oversized.OWN_JOB));
    assertThat(plan.epochs()).isEqualTo(3);
    long jobs = 0;
    for (int epoch = 0; epoch < 3; epoch++) {
      JobList list = plan.jobList(epoch);
      assertThat(list.header().epoch()).isEqualTo(epoch);
      assertThat(list.header().sequences()).isEqualTo(1_000);
      assertThat(plan.firstJob(epoch)).isEqualTo(jobs);
      jobs += list.size();
      assertThat(plan.epochOf(jobs - 1)).isEqualTo(epoch);
    }
    assertThat(plan.jobs()).isEqualTo(jobs);
    assertThat(plan.firstJob(3)).isEqualTo(jobs);
    assertThatThrownBy(() -> plan.epochOf(plan.jobs()))
        .isInstanceOf(IndexOutOfBoundsException.class);
    plan.verify();
  }

  @Test
  void theTotalsAddUp() throws IOException {
    PlanManifest manifest = write(2);

    long tokens = Arrays.stream(LENGTHS).asLongStream().sum();
    assertThat(manifest.tokens()).isEqualTo(2 * tokens);
    assertThat(manifest.supervisedTokens()).isEqualTo(2 * (tokens / 2));
    for (PlanManifest.Epoch epoch : manifest.epochs()) {
      assertThat(epoch.tokens()).isEqualTo(tokens);
      assertThat(epoch.buckets().stream().mapToLong(PlanManifest.Bucket::tokens).sum())
          .isEqualTo(tokens);
      assertThat(epoch.buckets().stream().mapToLong(PlanManifest.Bucket::jobs).sum())
          .isEqualTo(epoch.jobs());
      assertThat(epoch.buckets().stream().mapToLong(PlanManifest.Bucket::sequences).sum())
          .isEqualTo(1_000);
      assertThat(epoch.buckets())
          .extracting(PlanManifest.Bucket::lengths)
          .containsExactly("1-50", "51-400", "401+");
      assertThat(Files.size(directory.resolve(epoch.file()))).isEqualTo(epoch.bytes());
    }
    assertThat(manifest.largestJobTokens()).isEqualTo(Arrays.stream(LENGTHS).max().orElseThrow());
  }

  @Test
  void whatIsLeftOutIsCounted() throws IOException {
    PlanManifest manifest =
        PlanWriter.write(input(LENGTHS), options(1, Oversized.REJECT), directory);

    int[] kept = Arrays.stream(LENGTHS).filter(length -> length <= 500).toArray();
    int leftOut = 1_000 - kept.length;
    assertThat(leftOut).isPositive();
    assertThat(manifest.leftOutSequences()).isEqualTo(leftOut);
    assertThat(read().jobList(0).header().leftOut()).isEqualTo(leftOut);
    assertThat(manifest.tokens()).isEqualTo(Arrays.stream(kept).asLongStream().sum());
    long removed =
        Arrays.stream(LENGTHS).filter(length -> length > 500).map(length -> length / 2).sum();
    assertThat(manifest.supervisedTokens()).isEqualTo(input(LENGTHS).supervisedTokens() - removed);
  }

  @Test
  void theSameInputGivesTheSameBytes(@TempDir Path other) throws IOException {
    write(2);
    PlanWriter.write(input(LENGTHS.clone()), options(2, Oversized.OWN_JOB), other);

    for (String file : new String[] {"epoch-0000.jobs", "epoch-0001.jobs", "plan.json"}) {
      assertThat(directory.resolve(file)).hasSameBinaryContentAs(other.resolve(file));
    }
  }

  @Test
  void aPlanIsNeverOverwritten() throws IOException {
    write(1);

    assertThatThrownBy(() -> write(1))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("holds a plan already");
  }

  @Test
  void aFileIsNoPlaceForAPlan() throws IOException {
    Path file = Files.createFile(directory.resolve("taken"));

    assertThatThrownBy(() -> PlanWriter.write(input(LENGTHS), options(1, Oversized.OWN_JOB), file))
        .isInstanceOf(InputException.class)
        .hasMessageContaining(file + " is a file");
  }

  @Test
  void aListOfAnotherPlanIsRefused(@TempDir Path other) throws IOException {
    write(2);
    PlanOptions seeded =
        new PlanOptions(12, 2, 500, BucketBounds.parse("50,400"), Oversized.OWN_JOB);
    PlanWriter.write(input(LENGTHS), seeded, other);
    Files.delete(directory.resolve("epoch-0001.jobs"));

    Files.copy(other.resolve("epoch-0001.jobs"), directory.resolve("epoch-0001.jobs"));
    assertThatThrownBy(() -> read().jobList(1))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("made for another plan");

    Files.delete(directory.resolve("epoch-0001.jobs"));
    Files.copy(directory.resolve("epoch-0000.jobs"), directory.resolve("epoch-0001.jobs"));
    assertThatThrownBy(() -> read().jobList(1)).isInstanceOf(InputException.class);
  }

  @Test
  void aPlanJsonThatWasEditedIsRefused() throws IOException {
    write(1);
    String json = Files.readString(directory.resolve("plan.json"));
    for (String edited :
        new String[] {
          json.replace("\"version\" : 1", "\"version\" : 9"),
          json.replace("epoch-0000.jobs", "../epoch-0000.jobs"),
          json.replace("\"own-job\"", "\"some\""),
          json.replaceFirst("\"dataset\" : \"01", "\"dataset\" : \"zz"),
          json.replaceFirst("\"seed\" : 11,", ""),
          json.replaceFirst("\"jobs\" : ", "\"jobs\" : 1"),
          json.replaceFirst("\"largest_job_tokens\" : ", "\"largest_job_tokens\" : 1"),
          json.substring(0, 100)
        }) {
      Files.writeString(directory.resolve("plan.json"), edited);
      assertThatThrownBy(this::read)
          .isInstanceOf(InputException.class)
          .hasMessageContaining("plan.json");
    }
    Files.writeString(
        directory.resolve("plan.json"),
        json.replaceFirst("\"sha256\" : \"..", "\"sha256\" : \"zz"));
    assertThatThrownBy(() -> read().verify())
        .isInstanceOf(InputException.class)
        .hasMessageContaining("SHA-256");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "a", "5,5", "10,5", "-1", "1,,2", "99999999999"})
  void boundsThatDoNotAscendAreRefused(String bounds) {
    assertThatThrownBy(() -> BucketBounds.parse(bounds))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("bucket bounds");
  }

  @Test
  void aBoundBelongsToTheBucketBelowIt() {
    BucketBounds bounds = BucketBounds.DEFAULT;

    assertThat(bounds.bucketOf(1)).isZero();
    assertThat(bounds.bucketOf(512)).isZero();
    assertThat(bounds.bucketOf(513)).isEqualTo(1);
    assertThat(bounds.bucketOf(8192)).isEqualTo(4);
    assertThat(bounds.bucketOf(8193)).isEqualTo(5);
    assertThat(bounds.label(1)).isEqualTo("513-1024");
    assertThat(BucketBounds.parse("0,512,1024,2048,4096,8192")).isEqualTo(bounds);
    assertThat(new BucketBounds(List.of()).bucketOf(5)).isZero();
  }

  @Test
  void optionsThatCannotBeAreRefused() {
    assertThatThrownBy(() -> options(0, Oversized.REJECT)).isInstanceOf(InputException.class);
    assertThatThrownBy(() -> options(10_001, Oversized.REJECT)).isInstanceOf(InputException.class);
    assertThatThrownBy(() -> new PlanOptions(1, 1, 0, BucketBounds.DEFAULT, Oversized.REJECT))
        .isInstanceOf(InputException.class);
    assertThatThrownBy(() -> Oversized.parse("cut"))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("own-job or reject");
  }

  /** Some languages write numbers with digits of their own; names of files must not. */
  @Test
  void namesOfFilesDoNotDependOnTheLanguage() throws Exception {
    Locale before = Locale.getDefault();
    Locale.setDefault(Locale.forLanguageTag("ar-EG"));
    try {
      write(2);
      assertThat(read().jobList(1).size()).isPositive();
      assertThat(directory.resolve("epoch-0001.jobs")).exists();
      assertThat(DatasetAssembler.fileName(7)).isEqualTo("data-00007.arrow");
    } finally {
      Locale.setDefault(before);
    }
  }
}
