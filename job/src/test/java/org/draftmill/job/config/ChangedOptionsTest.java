package org.draftmill.job.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.flink.configuration.Configuration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ChangedOptionsTest {
  @TempDir Path dir;
  private Path file;

  private static Configuration options(String... given) {
    return RunFile.parse("test", "", List.of(given));
  }

  @BeforeEach
  void write() throws Exception {
    file = dir.resolve("run.yaml");
    Files.writeString(
        file, ResolvedRunFile.render(options("run.dir=a", "jobs.bucket-bounds=[16, 32]")));
  }

  @Test
  void theSameIsNoChangeWhereverItRuns() {
    assertThat(ChangedOptions.since(file, options("run.dir=b", "jobs.bucket-bounds=[16, 32]")))
        .isEmpty();
  }

  @Test
  void aRelativePathIsNoChangeOfWhatTheRunMadeOfIt() throws Exception {
    Configuration given = options("target.model=models/tiny", "jobs.dataset=data/../chats");
    Files.writeString(file, ResolvedRunFile.render(AbsolutePaths.in(given)));
    assertThat(ChangedOptions.since(file, given)).isEmpty();
  }

  @Test
  void everyChangeIsNamedWithBothValues() {
    assertThat(
            ChangedOptions.since(
                file, options("drafter.optimizer.lr=0.5", "checkpoint.interval=5s")))
        .containsExactlyInAnyOrder(
            "jobs.bucket-bounds was [16, 32] and is [512, 1024, 2048, 4096, 8192]",
            "drafter.optimizer.lr was 6.0E-4 and is 0.5",
            "checkpoint.interval was 1min and is 5s");
  }

  @Test
  void whatCannotBeReadTellsNothing() throws Exception {
    Files.writeString(file, "some: {key: of another version}");
    assertThat(ChangedOptions.since(file, options())).isEmpty();
    assertThat(ChangedOptions.since(dir.resolve("none"), options())).isEmpty();
  }
}
