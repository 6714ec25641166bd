package org.draftmill.job.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.draftmill.job.TestingRuns;
import org.draftmill.job.cluster.LocalClusterScript.Result;
import org.draftmill.job.console.ExitCode;
import org.draftmill.job.train.Summary;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Runs on a JobManager and three TaskManagers of two slots, which are as many as a run of five
 * needs: each takes part.
 */
@Tag("cluster")
@Timeout(3600)
class SessionClusterITCase {
  private static final Duration PATIENCE = Duration.ofMinutes(20);

  /** Enough to be in the middle of them when a command has started. */
  private static final String EPOCHS = "jobs.epochs=150";

  @TempDir static Path reference;
  private static String expected;
  private static TestingCluster cluster;

  @TempDir Path dir;

  @BeforeAll
  static void start() throws Exception {
    TestingRuns embedded = TestingRuns.in(reference, 60, true);
    TestingRuns.Result result = embedded.train(EPOCHS);
    assertThat(result.exitCode()).as(result.out() + result.err()).isEqualTo(ExitCode.DONE);
    expected = TestingRuns.weights(embedded.runDirectory());
    cluster = TestingCluster.start("session", ClusterSpec.of(3, 2));
  }

  @AfterAll
  static void stop() throws Exception {
    if (cluster != null) {
      cluster.close();
    }
  }

  @Test
  void trainsTheWeightsOfAnEmbeddedRunOfTheDemo() throws Exception {
    Path data = demoData();
    TestingRuns.Result embedded =
        TestingRuns.draftmill(
            Stream.concat(Stream.of("train"), Stream.of(demo(data, dir.resolve("embedded"))))
                .toArray(String[]::new));
    assertThat(embedded.exitCode()).as(embedded.out() + embedded.err()).isEqualTo(ExitCode.DONE);

    // Attached: the client waits for the end of the job, and says how it ended.
    cluster.run(demo(data, dir.resolve("cluster"))).requireDone();

    assertThat(TestingRuns.weights(dir.resolve("cluster")))
        .isEqualTo(TestingRuns.weights(dir.resolve("embedded")));
    Summary summary = Summary.read(dir.resolve("cluster/summary.json"));
    assertThat(summary.steps()).isEqualTo(8);
    assertThat(summary.targetBusy()).isBetween(0.0, 1.0);
    assertThat(summary.balance()).isNotNull();
  }

  @Test
  void goesOnFromASavepointWithAnotherParallelism() throws Exception {
    TestingRuns runs = TestingRuns.in(dir, 60, true);
    Path savepoints = dir.resolve("savepoints");

    String first = cluster.submit(runs.arguments(EPOCHS));
    cluster.awaitCheckpoints(first, 2, PATIENCE);
    String savepoint = cluster.stopWithSavepoint(first, savepoints);
    cluster.awaitStatus(first, "FINISHED", PATIENCE);
    assertThat(cluster.flink("list", "--all").requireDone().output())
        .contains(first, "draftmill run");
    String second =
        cluster.resume(
            savepoint, runs.arguments(EPOCHS, "target.parallelism=1", "drafter.parallelism=3"));
    cluster.awaitStatus(second, "FINISHED", PATIENCE);

    TestingRuns.requireEveryJobOnce(runs.runDirectory());
    assertThat(TestingRuns.weights(runs.runDirectory())).isEqualTo(expected);
  }

  @Test
  void refusesASecondJobInTheDirectoryOfARunningOne() throws Exception {
    TestingRuns runs = TestingRuns.in(dir, 60, true);
    String more = "jobs.epochs=3000";

    String first = cluster.submit(runs.arguments(more));
    Result twice = cluster.run(runs.arguments(more));

    assertThat(twice.exitCode()).isNotZero();
    assertThat(twice.output()).contains("Job " + first + " of this cluster is", "works in");
    cluster.cancel(first);
    cluster.awaitStatus(first, "CANCELED", PATIENCE);
  }

  @Test
  void goesOnByItselfAfterACancelAndSaysWhenARunIsComplete() throws Exception {
    TestingRuns runs = TestingRuns.in(dir, 60, true);

    String first = cluster.submit(runs.arguments(EPOCHS));
    cluster.awaitCheckpoints(first, 2, PATIENCE);
    cluster.cancel(first);
    cluster.awaitStatus(first, "CANCELED", PATIENCE);
    String second = cluster.submit(runs.arguments(EPOCHS));
    cluster.awaitStatus(second, "FINISHED", PATIENCE);

    TestingRuns.requireEveryJobOnce(runs.runDirectory());
    assertThat(TestingRuns.weights(runs.runDirectory())).isEqualTo(expected);
    Path summary = runs.runDirectory().resolve("summary.json");
    assertThat(summary).as("nobody waited for the end of the job").doesNotExist();
    Result again = cluster.run(runs.arguments(EPOCHS));
    assertThat(again.output()).contains("This run is complete");
    assertThat(Summary.read(summary).weightsSha256()).isEqualTo(expected);
  }

  @Test
  void refusesWhatCannotBeUsedBeforeAnythingRuns() throws Exception {
    TestingRuns runs = TestingRuns.in(dir, 10, true);
    Result unknown = cluster.run(runs.arguments("pool.min-raedy=3"));
    assertThat(unknown.exitCode()).isNotZero();
    assertThat(unknown.output()).contains("pool.min-ready").doesNotContain("\tat ");
    Result unusable = cluster.run(runs.arguments("drafter.anchors=0"));
    assertThat(unusable.exitCode()).isNotZero();
    assertThat(unusable.output())
        .contains("drafter.anchors is 0, but it must be at least 1.")
        .doesNotContain("\tat ");
  }

  /** The shipped target on a part of the shipped text. */
  private Path demoData() throws IOException {
    Path home = LocalClusterScript.HOME;
    List<String> lines;
    try (var all = Files.lines(home.resolve("demo/corpus.jsonl"))) {
      lines = all.limit(60).toList();
    }
    Path corpus = Files.write(dir.resolve("corpus.jsonl"), lines);
    Path data = dir.resolve("data");
    TestingRuns.Result prepared =
        TestingRuns.draftmill(
            "prepare",
            "--target",
            home.resolve("demo/target").toString(),
            "--input",
            corpus.toString(),
            "--out",
            data.toString());
    assertThat(prepared.exitCode()).as(prepared.err()).isEqualTo(ExitCode.DONE);
    return data;
  }

  private static String[] demo(Path data, Path run) {
    Path demo = LocalClusterScript.HOME.resolve("demo");
    return new String[] {
      "--config",
      demo.resolve("run.yaml").toString(),
      "-D",
      "run.dir=" + run,
      "-D",
      "run.web-port=0",
      "-D",
      "run.max-steps=8",
      "-D",
      "target.model=" + demo.resolve("target"),
      "-D",
      "jobs.dataset=" + data,
    };
  }
}
