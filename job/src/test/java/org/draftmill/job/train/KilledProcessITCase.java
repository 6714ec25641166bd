package org.draftmill.job.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.draftmill.job.TestingProcess;
import org.draftmill.job.TestingRuns;
import org.draftmill.job.console.ExitCode;
import org.draftmill.job.run.SavedState;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Runs {@code draftmill train} as a process, ends that by signals, and runs the same again. */
@Timeout(300)
class KilledProcessITCase {
  private static final Duration PATIENCE = Duration.ofSeconds(120);
  private static final String[] SLOW = {
    "checkpoint.interval=300ms", "jobs.epochs=30", "target.parallelism=1"
  };

  @TempDir Path dir;

  private final List<Process> started = new ArrayList<>();

  @AfterEach
  void endAll() {
    started.forEach(Process::destroyForcibly);
  }

  @Test
  void goesOnAfterSigkillAndTrainsEveryJobOnce() throws Exception {
    TestingRuns runs = TestingRuns.in(dir, 60, true);
    Path checkpoints = runs.runDirectory().resolve("checkpoints");

    // Once as soon as a checkpoint's metadata is there: its completion is not notified yet.
    Process first = start(runs);
    await()
        .atMost(PATIENCE)
        .pollInterval(Duration.ofMillis(1))
        .until(() -> hasMetadata(checkpoints));
    kill(first);
    long stoodAt = SavedState.list(checkpoints).get(0).id();

    // Once at some moment later.
    Process second = start(runs);
    await()
        .atMost(PATIENCE)
        .until(
            () -> {
              List<SavedState> states = SavedState.list(checkpoints);
              return !states.isEmpty() && states.get(0).id() >= stoodAt + 3;
            });
    kill(second);
    assertThat(runs.runDirectory().resolve("summary.json")).doesNotExist();

    TestingRuns.Result result = runs.train(SLOW);

    assertThat(result.exitCode()).as(result.out() + result.err()).isEqualTo(ExitCode.DONE);
    assertThat(result.out()).contains("resuming    from checkpoints/");
    TestingRuns.requireEveryJobOnce(runs.runDirectory());
  }

  @Test
  void stopsAtASavepointWhenInterrupted() throws Exception {
    TestingRuns runs = TestingRuns.in(dir.resolve("with a space"), 60, true);
    Path checkpoints = runs.runDirectory().resolve("checkpoints");
    Process process = start(runs);
    await().atMost(PATIENCE).until(() -> hasMetadata(checkpoints));

    TestingProcess.signal(process, "-INT");

    assertThat(process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).as(output()).isEqualTo(ExitCode.INTERRUPTED);
    assertThat(output()).contains("stopped at a savepoint");
    assertThat(checkpoints.resolve("claimed-savepoints")).content().startsWith("savepoint-");
    TestingRuns.Result result = runs.train(SLOW);
    assertThat(result.exitCode()).as(result.out() + result.err()).isEqualTo(ExitCode.DONE);
    assertThat(result.out()).contains("resuming    from checkpoints/savepoint-");
    TestingRuns.requireEveryJobOnce(runs.runDirectory());
  }

  @Test
  void stopsAtOnceWhenInterruptedTwice() throws Exception {
    TestingRuns runs = TestingRuns.in(dir, 60, true);
    Path checkpoints = runs.runDirectory().resolve("checkpoints");
    Process process = start(runs);
    await().atMost(PATIENCE).until(() -> hasMetadata(checkpoints));

    TestingProcess.signal(process, "-INT");
    await()
        .atMost(PATIENCE)
        .pollInterval(Duration.ofMillis(1))
        .until(() -> !unfinished(checkpoints).isEmpty() || !process.isAlive());
    TestingProcess.signal(process, "-INT");

    assertThat(process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).as(output()).isEqualTo(ExitCode.INTERRUPTED);
    assertThat(unfinished(checkpoints)).isEmpty();
    TestingRuns.Result result = runs.train(SLOW);
    assertThat(result.exitCode()).as(result.out() + result.err()).isEqualTo(ExitCode.DONE);
    TestingRuns.requireEveryJobOnce(runs.runDirectory());
  }

  private static List<Path> unfinished(Path checkpoints) throws IOException {
    try (Stream<Path> children = Files.list(checkpoints)) {
      return children
          .filter(child -> child.getFileName().toString().contains("savepoint-"))
          .filter(child -> Files.isDirectory(child) && !Files.exists(child.resolve("_metadata")))
          .toList();
    }
  }

  private static boolean hasMetadata(Path checkpoints) {
    return !SavedState.list(checkpoints).isEmpty();
  }

  private Process start(TestingRuns runs) throws IOException {
    Process process = TestingProcess.train(dir.resolve("process.out"), runs, SLOW);
    started.add(process);
    return process;
  }

  private String output() throws IOException {
    return Files.readString(dir.resolve("process.out"));
  }

  /** SIGKILL. */
  private static void kill(Process process) throws InterruptedException {
    process.destroyForcibly().waitFor();
  }
}
