package org.draftmill.job.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.draftmill.compute.io.Folders;
import org.draftmill.job.TestingRuns;
import org.draftmill.job.console.ExitCode;
import org.draftmill.job.run.SavedState;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A disk that is full, or cannot be written to: a small one in memory, where one may be mounted.
 */
@Timeout(1800)
class FullDiskITCase {
  private static final int MEGABYTES = 8;
  private static final Duration PATIENCE = Duration.ofMinutes(10);

  @TempDir Path dir;

  private Path disk;
  private TestingRuns runs;

  @BeforeEach
  void mountADisk() throws Exception {
    disk = Files.createDirectories(dir.resolve("disk"));
    assumeTrue(
        command("mount", "-t", "tmpfs", "-o", "size=" + MEGABYTES + "m", "none", disk.toString())
            == 0,
        "a file system can be mounted only by root");
    runs = TestingRuns.in(dir.resolve("work"), 40, true);
  }

  @AfterEach
  void unmount() throws Exception {
    command("umount", "-l", disk.toString());
  }

  private static int command(String... command) throws Exception {
    try {
      Process process =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      return process.waitFor(30, TimeUnit.SECONDS) ? process.exitValue() : -1;
    } catch (IOException e) {
      return -1; // there is no such command
    }
  }

  private TestingRuns.Result train(String... more) {
    return runs.train(
        Stream.concat(
                Stream.of(
                    "run.dir=" + disk.resolve("run"),
                    "jobs.epochs=60",
                    "target.parallelism=1",
                    "checkpoint.interval=300ms"),
                Stream.of(more))
            .toArray(String[]::new));
  }

  /** Takes all room that there is, also what was given back since the last time. */
  private Path fill() throws IOException {
    Path ballast = disk.resolve("ballast");
    try (OutputStream out =
        Files.newOutputStream(ballast, StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
      byte[] block = new byte[1 << 12];
      while (true) {
        out.write(block);
      }
    } catch (IOException full) {
      return ballast;
    }
  }

  @Test
  void aRunThatFillsItsDiskSaysSoAndGoesOnOnceThereIsRoom() throws Exception {
    CompletableFuture<TestingRuns.Result> begun = begin();
    for (int tries = 1; begun.isDone(); tries++) { // it does not wait for who fills the disk
      assertThat(tries).as("runs that ended before: %s", begun.get()).isLessThan(10);
      Folders.delete(disk.resolve("run"));
      begun = begin();
    }
    CompletableFuture<TestingRuns.Result> run = begun;
    await()
        .atMost(PATIENCE)
        .until(
            () -> {
              fill(); // what Flink deletes gives room again
              return run.isDone();
            });
    Path ballast = fill();
    TestingRuns.Result result = run.get();
    assertThat(result.exitCode()).as(result.out() + result.err()).isEqualTo(ExitCode.FAILED);
    assertThat(result.err())
        .hasLineCount(1)
        .startsWith("error: The disk of " + disk.resolve("run") + " is full: ")
        .contains("are free, and a run such as this takes up to")
        .contains("goes on from the last checkpoint");
    requireNothingHalfWritten(disk.resolve("run/export"));
    requireNothingHalfWritten(disk.resolve("run/drafter"));

    assertThat(train().exitCode()).as("still full").isNotEqualTo(ExitCode.DONE);
    Files.delete(ballast);
    TestingRuns.Result after = train();
    assertThat(after.exitCode()).as(after.err()).isEqualTo(ExitCode.DONE);
    assertThat(after.out()).contains("resuming    from checkpoints/");
    TestingRuns.requireEveryJobOnce(disk.resolve("run"));
    final String weights = Summary.read(disk.resolve("run/summary.json")).weightsSha256();
    Folders.delete(disk.resolve("run"));
    assertThat(train().exitCode()).isEqualTo(ExitCode.DONE);
    assertThat(Summary.read(disk.resolve("run/summary.json")).weightsSha256()).isEqualTo(weights);
  }

  /** A run that has left two checkpoints and a drafter, or that has ended. */
  private CompletableFuture<TestingRuns.Result> begin() {
    CompletableFuture<TestingRuns.Result> run = CompletableFuture.supplyAsync(this::train);
    Path checkpoints = disk.resolve("run/checkpoints");
    Path drafter = disk.resolve("run/export/latest");
    await()
        .atMost(PATIENCE)
        .until(
            () ->
                run.isDone()
                    || SavedState.list(checkpoints).size() >= 2 && Files.isDirectory(drafter));
    return run;
  }

  /** Names that begin with a dot are on their way. */
  private static void requireNothingHalfWritten(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      assertThat(files.filter(file -> file.toString().endsWith(".safetensors")))
          .isNotEmpty()
          .filteredOn(file -> !file.toString().contains("/."))
          .allSatisfy(file -> org.draftmill.compute.io.SafetensorsFile.open(file).close());
    }
  }

  @Test
  void aDiskWithoutRoomForTheRunIsRefusedBeforeItBegins() throws Exception {
    fill();

    TestingRuns.Result result = train();

    assertThat(result.exitCode()).as(result.err()).isEqualTo(ExitCode.UNUSABLE);
    assertThat(result.err()).hasLineCount(1).contains(disk.toString());
    assertThat(result.out()).doesNotContain("web UI");
  }

  @Test
  void aDirectoryThatCannotBeWrittenToIsRefused() throws Exception {
    Files.createDirectories(disk.resolve("run/log"));
    assumeTrue(command("mount", "-o", "remount,ro", disk.toString()) == 0);

    TestingRuns.Result result = train();

    assertThat(result.exitCode()).as(result.err()).isEqualTo(ExitCode.UNUSABLE);
    assertThat(result.err())
        .hasLineCount(1)
        .contains("The run directory " + disk.resolve("run") + " cannot be written to");
  }
}
