package org.draftmill.job.train;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.draftmill.compute.io.Folders;
import org.draftmill.job.TestingRuns;
import org.draftmill.job.balance.Balance;
import org.draftmill.job.config.RunFile;
import org.draftmill.job.console.ExitCode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Whole runs on embedded Flink, with chunks of 4 KB so that every microbatch has many. */
@Timeout(1800)
class TrainingITCase {
  @TempDir Path dir;

  @Test
  void trainsEveryJobOnceAndLeavesADrafter() throws Exception {
    TestingRuns runs = TestingRuns.in(dir, 60, true);

    Summary summary = completed(runs);

    assertThat(summary.targetBusy()).isBetween(0.0, 1.0);
    assertThat(summary.drafterBusy()).isBetween(0.0, 1.0);
    assertThat(runs.runDirectory().resolve("export/latest/config.json")).exists();
    assertThat(runs.runDirectory().resolve("run.yaml")).exists();
    assertThat(runs.runDirectory().resolve("log/live.csv")).exists();
    assertThat(summary.balance().targetCapacity()).isPositive();
    TestingRuns.Result balance = TestingRuns.draftmill("balance", runs.runDirectory().toString());
    assertThat(balance.exitCode()).as(balance.err()).isEqualTo(ExitCode.DONE);
    assertThat(balance.out()).contains("Measured over %d steps".formatted(summary.steps()), "each");
  }

  @Test
  void aRunThatIsCompleteStaysAsItIs() throws Exception {
    TestingRuns runs = TestingRuns.in(dir, 20, true);
    Summary first = completed(runs);

    TestingRuns.Result again = runs.train();
    TestingRuns.Result changed = runs.train("drafter.anchors=3");

    assertThat(again.exitCode()).as(again.err()).isEqualTo(ExitCode.DONE);
    assertThat(again.out()).contains("This run is complete");
    assertThat(again.err()).isEmpty();
    assertThat(changed.exitCode()).isEqualTo(ExitCode.DONE);
    assertThat(changed.err()).contains("changes nothing: drafter.anchors was 4 and is 3");
    assertThat(Summary.read(runs.runDirectory().resolve("summary.json"))).isEqualTo(first);
  }

  @Test
  void whatWasKilledBetweenItsLastStepAndItsSummaryOnlyGetsThat() throws Exception {
    TestingRuns runs = TestingRuns.in(dir, 20, true);
    Summary first = completed(runs);
    Files.delete(runs.runDirectory().resolve("summary.json"));
    Folders.delete(runs.runDirectory().resolve("checkpoints"));

    TestingRuns.Result again = runs.train();

    assertThat(again.exitCode()).as(again.err()).isEqualTo(ExitCode.DONE);
    assertThat(again.out()).contains("All steps of this run are trained").doesNotContain("web UI");
    Summary second = Summary.read(runs.runDirectory().resolve("summary.json"));
    assertThat(second.jobs()).isEqualTo(first.jobs());
    assertThat(second.seconds()).isEqualTo(first.seconds());
    assertThat(second.weightsSha256()).isEqualTo(first.weightsSha256());
    TestingRuns.requireEveryJobOnce(runs.runDirectory());
  }

  @Test
  void theDiskThatItIsEstimatedToTakeIsEnoughAndOfTheRightOrder() throws Exception {
    TestingRuns runs = TestingRuns.in(dir, 60, true);
    completed(runs, "jobs.epochs=10", "checkpoint.interval=50ms");
    long held = bytes(runs.runDirectory().resolve("drafter"));
    held += bytes(runs.runDirectory().resolve("export"));

    long estimate =
        Estimates.of(ResolvedRun.of(RunFile.read(runs.file(), List.of("jobs.epochs=10"))), false)
            .diskBytes();

    // Of the states of a run that is complete only the last is left.
    assertThat(estimate).isBetween(held, 30 * held);
  }

  private static long bytes(Path directory) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      return files.filter(Files::isRegularFile).mapToLong(file -> file.toFile().length()).sum();
    }
  }

  @Test
  void onePlannedJobIsEnough() throws Exception {
    assertThat(completed(TestingRuns.in(dir, 1, true)).jobs()).isEqualTo(1);
  }

  @Test
  void fewerJobsThanThePoolWaitsForAndThanDrafters() throws Exception {
    TestingRuns runs = TestingRuns.in(dir, 3, true);

    Summary summary =
        completed(
            runs,
            "pool.min-ready=10",
            "pool.max-ready=10",
            "drafter.parallelism=4",
            "jobs.bucket-bounds=[64]");

    assertThat(summary.jobs()).isLessThan(4);
    TestingRuns few = TestingRuns.in(dir.resolve("few"), 3, true);
    assertThat(few.train("drafter.accumulation=20").err())
        .contains("drafter.accumulation = 20 microbatches make a step")
        .contains("the whole run is one step");
  }

  @Test
  void draftersSlowerThanTheTargetsMakeTheseWaitAndNothingElse() throws Exception {
    TestingRuns runs = TestingRuns.in(dir, 30, true);
    Balance.Figures balance = withSlowDrafters(runs);
    // A machine that stands still in the middle of a target's pass makes the target look slow.
    for (int tries = 1; tries < 5 && balance.waiting() <= 0.5; tries++) {
      Folders.delete(runs.runDirectory());
      balance = withSlowDrafters(runs);
    }
    assertThat(balance.boundBy()).isEqualTo("drafters");
    assertThat(balance.waiting()).isGreaterThan(0.5);
  }

  private static Balance.Figures withSlowDrafters(TestingRuns runs) throws IOException {
    return completed(
            runs,
            "pool.max-ready=3",
            "drafter.parallelism=1",
            "drafter.layers=8",
            "drafter.block-size=16",
            "drafter.anchors=32",
            "drafter.accumulation=1")
        .balance();
  }

  @Test
  void withoutASupervisedTokenTheWeightsStay() throws Exception {
    TestingRuns runs = TestingRuns.in(dir, 20, false);

    completed(runs);

    assertThat(TrainingLog.read(runs.runDirectory().resolve("log")))
        .allSatisfy(row -> assertThat(row.loss()).isNaN());
  }

  @Test
  void shardsDecideTheOrderAndSubtasksDoNot() throws Exception {
    TestingRuns runs = TestingRuns.in(dir, 30, true);
    String[] common = {"jobs.epochs=3", "pool.shards=3"};

    Summary alone = completed(runs, with(common, "pool.parallelism=1", "drafter.parallelism=1"));
    List<TrainingLog.Row> steps = TrainingLog.read(runs.runDirectory().resolve("log"));
    Folders.delete(runs.runDirectory());
    Summary two = completed(runs, with(common, "pool.parallelism=2", "drafter.parallelism=3"));

    assertThat(two.weightsSha256()).isEqualTo(alone.weightsSha256());
    assertThat(two.jobs()).isEqualTo(alone.jobs());
    assertThat(steps.subList(0, steps.size() - 1))
        .as("a step of three takes one of each shard")
        .allSatisfy(
            step ->
                assertThat(step.jobs().stream().map(job -> job % 3))
                    .containsExactlyInAnyOrder(0L, 1L, 2L));
    assertThat(TrainingLog.read(runs.runDirectory().resolve("log")))
        .extracting(TrainingLog.Row::jobs)
        .containsExactlyElementsOf(steps.stream().map(TrainingLog.Row::jobs).toList());
  }

  private static String[] with(String[] common, String... more) {
    return Stream.concat(Stream.of(common), Stream.of(more)).toArray(String[]::new);
  }

  private static Summary completed(TestingRuns runs, String... overrides) throws IOException {
    TestingRuns.Result result = runs.train(overrides);
    assertThat(result.exitCode()).as(result.out() + result.err()).isEqualTo(ExitCode.DONE);
    Summary summary = Summary.read(runs.runDirectory().resolve("summary.json"));
    TestingRuns.requireEveryJobOnce(runs.runDirectory());
    assertThat(summary.steps())
        .isEqualTo(TrainingLog.read(runs.runDirectory().resolve("log")).size());
    return summary;
  }
}
