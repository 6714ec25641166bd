package org.draftmill.operators.drafter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.util.ExceptionUtils;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.draftmill.compute.InputException;
import org.draftmill.compute.drafter.Collective;
import org.draftmill.compute.drafter.DrafterExport;
import org.draftmill.compute.drafter.Microbatch;
import org.draftmill.compute.drafter.MicrobatchFigures;
import org.draftmill.compute.drafter.StepFigures;
import org.draftmill.operators.TestingClusters;
import org.draftmill.operators.drafter.state.MetadataChecksums;
import org.draftmill.operators.jobs.TestingHold;
import org.draftmill.operators.start.StartClock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Drafters behind the real pool. The cluster has two TaskManagers, so drafters exchange through
 * memory and over TCP at once.
 */
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class DrafterITCase {
  @RegisterExtension
  private static final MiniClusterExtension CLUSTER =
      new MiniClusterExtension(
          new MiniClusterResourceConfiguration.Builder()
              .setConfiguration(TestingClusters.patient())
              .setNumberTaskManagers(2)
              .setNumberSlotsPerTaskManager(2)
              .build());

  @TempDir Path temporary;
  private int runs;

  private TestingRun run(long jobs) throws IOException {
    return new TestingRun(temporary.resolve("run-" + runs++), jobs);
  }

  private static void checkTrainedOnce(TestingRun run) throws IOException {
    List<Long> trained =
        run.rows().stream()
            .flatMap(
                row ->
                    Stream.iterate(0, i -> i + 1)
                        .limit(row.get("jobs").size())
                        .map(i -> row.get("jobs").get(i).asLong()))
            .toList();
    assertThat(trained)
        .containsExactlyInAnyOrderElementsOf(LongStream.range(0, run.jobs).boxed().toList());
  }

  @Test
  void theNumberOfDraftersDoesNotShowInAnyFigureOrWeight() throws Exception {
    TestingRun one = run(23).drafters(1).execute();
    checkTrainedOnce(one);
    assertThat(one.rows()).hasSize(6);
    assertThat(one.rows().get(5).get("jobs")).as("the tail is a smaller step").hasSize(3);
    assertThat(one.latest()).isSymbolicLink();
    assertThat(DrafterExport.read(one.latest()).config().blockSize()).isEqualTo(4);
    assertThat(Files.readSymbolicLink(one.latest())).hasToString("step-00000006");
    assertThat(Files.readAllLines(one.directory.resolve("log/live.csv"))).hasSize(7);
    for (int drafters = 2; drafters <= 4; drafters++) {
      TestingRun more = run(23).drafters(drafters).execute();
      assertThat(more.figures()).isEqualTo(one.figures());
      assertThat(more.sha256()).isEqualTo(one.sha256());
    }
  }

  @Test
  void aDrafterThatIsTwentyTimesSlowerChangesNothing() throws Exception {
    TestingRun even = run(40).drafters(1).execute();
    TestingRun uneven =
        run(40)
            .drafters(3)
            .hook((trainer, rank, attempt) -> new Slow(trainer, rank == 1 ? 60 : 3))
            .execute();
    assertThat(uneven.figures()).isEqualTo(even.figures());
    assertThat(uneven.sha256()).isEqualTo(even.sha256());
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void shortRunsEnd(int jobs) throws Exception {
    TestingRun run = run(jobs).drafters(3).execute();
    checkTrainedOnce(run);
    assertThat(run.latest()).exists();
  }

  @Test
  void softLabelsTravelWithTheirStates() throws Exception {
    TestingRun one = run(9).softLabels().execute();
    TestingRun two = run(9).softLabels().drafters(2).execute();
    checkTrainedOnce(two);
    assertThat(two.sha256()).isEqualTo(one.sha256());
    assertThat(one.sha256()).isNotEqualTo(run(9).execute().sha256());
  }

  @Test
  void aPlanWithoutASupervisedTokenTrainsNothingAndEnds() throws Exception {
    TestingRun run = run(9).drafters(2).unsupervised().execute();
    checkTrainedOnce(run);
    assertThat(run.rows()).allMatch(row -> row.get("loss").isNull());
    assertThat(run.rows()).allMatch(row -> row.get("supervised").asLong() == 0);
    assertThat(run.latest()).exists();
  }

  @Test
  void severalShardsOverSeveralSubtasks() throws Exception {
    TestingRun one = run(30).shards(3, 1).execute();
    TestingRun two =
        run(30).shards(3, 2).drafters(2).checkpoints(Duration.ofMillis(20), 0).execute();
    checkTrainedOnce(two);
    assertThat(two.figures()).isEqualTo(one.figures());
    assertThat(two.sha256()).isEqualTo(one.sha256());
  }

  @Test
  void aFailureInTheMiddleOfAReduceIsNotSeenInTheWeights() throws Exception {
    TestingRun calm = run(60).execute();
    TestingHold hold = TestingHold.at(50);
    TestingRun broken =
        run(60)
            .drafters(3)
            .hold(hold)
            .checkpoints(Duration.ofMillis(20), 3)
            .hook((trainer, rank, attempt) -> new Breaking(new Slow(trainer, 5), rank, attempt));
    JobClient job = broken.start();
    // Each attempt that breaks does so before the list rests. While it rests checkpoints go on.
    await("the states of three checkpoints, and of one on its way, of three drafters")
        .failFast(() -> requireRuns(job))
        .until(() -> hold.isReached() && states(broken) <= 12);
    hold.release();
    job.getJobExecutionResult().get();

    checkTrainedOnce(broken);
    assertThat(broken.figures()).isEqualTo(calm.figures());
    assertThat(broken.sha256()).isEqualTo(calm.sha256());
  }

  @Test
  void aCrashBetweenACheckpointAndItsNotificationIsNotSeenInTheWeights() throws Exception {
    int crashes = 3;
    TestingRun calm = run(200).execute();
    TestingHold hold = TestingHold.at(100);
    TestingRun broken = run(200).drafters(3).hold(hold).checkpoints(Duration.ofMillis(20), crashes);
    CrashAfterCheckpoint crash = new CrashAfterCheckpoint(crashes, broken.directory, hold);
    broken.afterDrafters(crash).execute();

    CrashAfterCheckpoint.Report report = crash.report();
    assertThat(report.crashed).containsOnlyKeys(0, 1, 2);
    assertThat(report.restored).containsOnlyKeys(1, 2, 3);
    report.crashed.forEach(
        (attempt, checkpoint) ->
            assertThat(report.restored.get(attempt + 1))
                .as("goes on from what no drafter was told of")
                .isGreaterThanOrEqualTo(checkpoint));
    assertThat(report.exported).as("attempts that were told and published").isEmpty();
    checkTrainedOnce(broken);
    assertThat(broken.figures()).isEqualTo(calm.figures());
    assertThat(broken.sha256()).isEqualTo(calm.sha256());
  }

  @Test
  void anyNumberOfDraftersGoesOnFromASavepoint() throws Exception {
    int all = 400;
    TestingRun calm = run(all).execute();
    Path directory = temporary.resolve("rescaled");
    String savepoint = null;
    int steps = 0;
    int place = 0; // where the list rests, so that it does not end before the savepoint
    for (int drafters : new int[] {2, 3, 1}) {
      TestingRun run =
          new TestingRun(directory, all)
              .drafters(drafters)
              .hold(TestingHold.at(place += 100))
              .checkpoints(Duration.ofMillis(50), 0)
              .hook((trainer, rank, attempt) -> new Slow(trainer, 15));
      if (savepoint != null) {
        run.from(savepoint);
      }
      JobClient job = run.start();
      int enough = steps + 3;
      await("some steps more")
          .failFast(() -> requireRuns(job))
          .until(() -> !run.rows().isEmpty() && last(run) >= enough);
      savepoint = run.stopWithSavepoint(job);
      assertThat(
              new MetadataChecksums(directory.resolve("checkpoints"))
                  .of(Path.of(java.net.URI.create(savepoint))))
          .as("the checksum of the savepoint's metadata")
          .isPresent();
      steps = last(run);
      assertThat(run.latest()).as("the drafter of the savepoint").exists();
    }
    TestingRun rest = new TestingRun(directory, all).drafters(2).from(savepoint).execute();
    List<String> calmFigures = calm.figures();
    assertThat(rest.figures())
        .isEqualTo(calmFigures.subList(calmFigures.size() - rest.figures().size(), all / 4));
    assertThat(rest.sha256()).isEqualTo(calm.sha256());

    TestingRun other = new TestingRun(directory, all).drafters(2).from(savepoint);
    other.options.set(DrafterOptions.ANCHORS, 5);
    assertThatThrownBy(other::execute)
        .satisfies(
            e ->
                assertThat(ExceptionUtils.findThrowable(e, InputException.class).orElseThrow())
                    .hasMessageContaining(
                        "a run with drafter.anchors = 6, but this one has drafter.anchors = 5"));
  }

  @Test
  void aDrafterThatDoesNotComeIsAFailureAndNotAHang() throws Exception {
    TestingRun calm = run(9).execute();
    TestingRun late =
        run(9)
            .drafters(3)
            .checkpoints(Duration.ofSeconds(10), 100) // it may start as late again
            .hook((trainer, rank, attempt) -> attempt == 0 && rank == 2 ? late(trainer) : trainer);
    late.options.set(StartClock.TIMEOUT, Duration.ofSeconds(5));
    late.execute();
    assertThat(late.sha256()).isEqualTo(calm.sha256());

    TestingRun never =
        run(9).drafters(3).hook((trainer, rank, attempt) -> rank == 2 ? late(trainer) : trainer);
    never.options.set(StartClock.TIMEOUT, Duration.ofSeconds(1));
    assertThatThrownBy(never::execute)
        .rootCause()
        .satisfiesAnyOf(
            e -> assertThat(e).hasMessageContaining("There its thread stood"),
            e ->
                assertThat(e)
                    .hasMessageMatching(
                        "Drafter [01] of 3 has waited for the others for 1 s, longer than"
                            + " run.start-timeout allows: drafters \\[.*2] have not come\\."));
  }

  private static Trainer late(Trainer trainer) {
    try {
      Thread.sleep(Duration.ofHours(1).toMillis());
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
    return trainer;
  }

  @Test
  void cancellingFreesDraftersThatWaitForEachOther() throws Exception {
    TestingRun run =
        run(400)
            .drafters(3)
            .checkpoints(Duration.ofMillis(20), 0)
            .hook((trainer, rank, attempt) -> new Slow(trainer, rank == 1 ? 1_000_000 : 0));
    JobClient job = run.start();
    await("connections").until(() -> threads("draftmill sender to drafter") > 0);
    await("the job").until(() -> job.getJobStatus().get() == JobStatus.RUNNING);
    job.cancel().get();
    await("its end").until(() -> job.getJobStatus().get() == JobStatus.CANCELED);
    await("the end of all threads").until(() -> threads("draftmill ") == 0);
  }

  private static ConditionFactory await(String what) {
    return Awaitility.await(what).pollInterval(Duration.ofMillis(10)).atMost(Duration.ofMinutes(5));
  }

  private static void requireRuns(JobClient job) throws Exception {
    if (job.getJobStatus().get().isTerminalState()) {
      job.getJobExecutionResult().get();
      throw new AssertionError("The run ended early.");
    }
  }

  private static long threads(String prefix) {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().startsWith(prefix))
        .count();
  }

  private static int last(TestingRun run) throws IOException {
    List<JsonNode> rows = run.rows();
    return rows.get(rows.size() - 1).get("step").asInt();
  }

  /** Files of states, which come and go while they are counted. */
  private static int states(TestingRun run) throws IOException {
    int files = 0;
    for (Path step : list(run.directory.resolve("drafter"))) {
      files += list(step).size();
    }
    return files;
  }

  private static List<Path> list(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.toList();
    } catch (NoSuchFileException e) {
      return List.of();
    }
  }

  /** Takes its time. */
  private record Slow(Trainer trainer, long millis) implements Trainer {
    @Override
    public MicrobatchFigures accumulate(Microbatch microbatch) {
      try {
        Thread.sleep(millis);
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
      return trainer.accumulate(microbatch);
    }

    @Override
    public void tombstone() {
      trainer.tombstone();
    }

    @Override
    public StepFigures step(Collective collective) throws IOException {
      return trainer.step(collective);
    }

    @Override
    public void close() {
      trainer.close();
    }
  }

  /** In the first attempts one drafter fails while it sums the gradients of a step. */
  private static final class Breaking implements Trainer {
    private final Trainer trainer;
    private final boolean breaks;
    private int steps;

    Breaking(Trainer trainer, int rank, int attempt) {
      this.trainer = trainer;
      breaks = attempt < 2 && rank == attempt + 1;
    }

    @Override
    public MicrobatchFigures accumulate(Microbatch microbatch) {
      return trainer.accumulate(microbatch);
    }

    @Override
    public void tombstone() {
      trainer.tombstone();
    }

    @Override
    public StepFigures step(Collective collective) throws IOException {
      return trainer.step(steps++ == 4 && breaks ? new BreakingCollective(collective) : collective);
    }

    @Override
    public void close() {
      trainer.close();
    }
  }

  private record BreakingCollective(Collective collective) implements Collective {
    @Override
    public int rank() {
      return collective.rank();
    }

    @Override
    public int size() {
      return collective.size();
    }

    @Override
    public void allReduce(long[] values) throws IOException {
      collective.allReduce(values);
    }

    @Override
    public void reduceScatter(long[] values, int[] bounds) throws IOException {
      throw new IOException("the network card is on fire");
    }

    @Override
    public void allGather(float[] values, int[] bounds) throws IOException {
      collective.allGather(values, bounds);
    }

    @Override
    public void allGather(double[] values, int[] bounds) throws IOException {
      collective.allGather(values, bounds);
    }

    @Override
    public void close() {}
  }
}
