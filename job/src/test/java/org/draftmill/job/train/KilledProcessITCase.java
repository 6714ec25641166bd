package org.draftmill.job.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.draftmill.compute.io.Folders;
import org.draftmill.job.TestingProcess;
import org.draftmill.job.TestingRuns;
import org.draftmill.job.config.RunFile;
import org.draftmill.job.console.ExitCode;
import org.draftmill.job.run.RunDirectory;
import org.draftmill.job.run.SavedState;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Runs {@code draftmill train} as a process, ends that by signals, and runs the same again. */
@Timeout(1800)
class KilledProcessITCase {
  private static final Duration PATIENCE = Duration.ofMinutes(10);
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
    untilItIsHit(runs, () -> isKilledTwice(runs));
    assertThat(runs.runDirectory().resolve("summary.json")).doesNotExist();

    TestingRuns.Result result = runs.train(SLOW);
    assertThat(result.exitCode()).as(result.out() + result.err()).isEqualTo(ExitCode.DONE);
    assertThat(result.out()).contains("resuming    from checkpoints/");
    TestingRuns.requireEveryJobOnce(runs.runDirectory());
  }

  private boolean isKilledTwice(TestingRuns runs) throws Exception {
    Path checkpoints = checkpoints(runs);
    // Once as soon as a checkpoint's metadata is there: its completion is not notified yet.
    Process first = start(runs);
    if (!isStillAtIt(first, Duration.ofMillis(1), () -> hasMetadata(checkpoints))) {
      return false;
    }
    kill(first);
    long stoodAt = SavedState.list(checkpoints).get(0).id();

    // Once at some moment later.
    Process second = start(runs);
    Callable<Boolean> later =
        () -> {
          List<SavedState> states = SavedState.list(checkpoints);
          return !states.isEmpty() && states.get(0).id() >= stoodAt + 3;
        };
    if (!isStillAtIt(second, Duration.ofMillis(50), later)) {
      return false;
    }
    kill(second);
    long steps = ResolvedRun.of(RunFile.read(runs.file(), List.of(SLOW))).steps();
    RunDirectory run = new RunDirectory(runs.runDirectory());
    return Continuation.of(run, steps).kind() == Continuation.Kind.RESUME;
  }

  @Test
  void stopsAtASavepointWhenInterrupted() throws Exception {
    TestingRuns runs = TestingRuns.in(dir.resolve("with a space"), 60, true);
    untilItIsHit(runs, () -> isInterrupted(runs, 1));
    assertThat(output()).contains("stopped at a savepoint");
    assertThat(checkpoints(runs).resolve("claimed-savepoints")).content().startsWith("savepoint-");

    TestingRuns.Result result = runs.train(SLOW);
    assertThat(result.exitCode()).as(result.out() + result.err()).isEqualTo(ExitCode.DONE);
    assertThat(result.out()).contains("resuming    from checkpoints/savepoint-");
    TestingRuns.requireEveryJobOnce(runs.runDirectory());
  }

  @Test
  void stopsAtOnceWhenInterruptedTwice() throws Exception {
    TestingRuns runs = TestingRuns.in(dir, 60, true);
    untilItIsHit(runs, () -> isInterrupted(runs, 2));

    TestingRuns.Result result = runs.train(SLOW);
    assertThat(result.exitCode()).as(result.out() + result.err()).isEqualTo(ExitCode.DONE);
    TestingRuns.requireEveryJobOnce(runs.runDirectory());
    // What a task began while the process ended is cleared away by the next one.
    assertThat(unfinished(checkpoints(runs))).isEmpty();
  }

  private static List<Path> unfinished(Path checkpoints) throws IOException {
    try (Stream<Path> children = Files.list(checkpoints)) {
      return children
          .filter(child -> child.getFileName().toString().contains("savepoint-"))
          .filter(child -> Files.isDirectory(child) && !Files.exists(child.resolve("_metadata")))
          .toList();
    }
  }

  private boolean isInterrupted(TestingRuns runs, int times) throws Exception {
    Process process = start(runs);
    if (!isStillAtIt(process, Duration.ofMillis(50), () -> hasMetadata(checkpoints(runs)))) {
      return false;
    }
    TestingProcess.signal(process, "-INT");
    if (times == 2) {
      await()
          .atMost(PATIENCE)
          .pollInterval(Duration.ofMillis(1))
          .until(() -> !unfinished(checkpoints(runs)).isEmpty() || !process.isAlive());
      TestingProcess.signal(process, "-INT");
    }
    assertThat(process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
    if (process.exitValue() == ExitCode.DONE) {
      return false; // nothing was left to stop
    }
    assertThat(process.exitValue()).as(output()).isEqualTo(ExitCode.INTERRUPTED);
    return true;
  }

  /** Begins anew when a run ended before: it does not wait for who strikes it. */
  private void untilItIsHit(TestingRuns runs, Callable<Boolean> strike) throws Exception {
    for (int tries = 1; !strike.call(); tries++) {
      assertThat(tries).as("runs that ended before, the last saying: %s", output()).isLessThan(10);
      Folders.delete(runs.runDirectory());
    }
  }

  /** Waits for a moment of a run; false if the run ended before. */
  private boolean isStillAtIt(Process process, Duration look, Callable<Boolean> moment)
      throws Exception {
    await().atMost(PATIENCE).pollInterval(look).until(() -> !process.isAlive() || moment.call());
    if (process.isAlive()) {
      return true;
    }
    assertThat(process.exitValue()).as(output()).isEqualTo(ExitCode.DONE);
    return false;
  }

  private static Path checkpoints(TestingRuns runs) {
    return runs.runDirectory().resolve("checkpoints");
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
