package org.draftmill.job.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import org.draftmill.compute.InputException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RunDirectoryTest {
  @TempDir Path dir;

  @Test
  void freshNeverTakesADirectoryThatHoldsSomething() throws Exception {
    Path run = dir.resolve("run");
    assertThat(RunDirectory.fresh(run)).isEqualTo(run);

    Files.createDirectories(run);
    assertThat(RunDirectory.fresh(run)).isEqualTo(run);

    Files.writeString(run.resolve("run.yaml"), "");
    Files.writeString(dir.resolve("run-2"), "a file");
    assertThat(RunDirectory.fresh(run)).isEqualTo(dir.resolve("run-3"));
  }

  @Test
  void aFileInTheWayIsNamed() throws Exception {
    Path file = Files.writeString(dir.resolve("file"), "");

    assertThatThrownBy(() -> RunDirectory.create(file.resolve("run")))
        .isInstanceOf(InputException.class)
        .hasMessageContaining(file.toString());
  }

  @Test
  void twoRunsInOneDirectoryAreRefused() throws Exception {
    RunDirectory run = RunDirectory.create(dir.resolve("run"));
    RunLock lock = RunLock.of(run);
    try {
      assertThatThrownBy(() -> RunLock.of(run))
          .isInstanceOf(InputException.class)
          .hasMessageStartingWith(
              "Another run (process " + ProcessHandle.current().pid() + ") is working in ");
    } finally {
      lock.close();
    }
    RunLock.of(run).close();
  }
}
