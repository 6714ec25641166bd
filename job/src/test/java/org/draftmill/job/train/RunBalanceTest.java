package org.draftmill.job.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.draftmill.compute.InputException;
import org.draftmill.job.balance.Balance;
import org.draftmill.job.balance.TargetLog;
import org.draftmill.job.run.RunDirectory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RunBalanceTest {
  private static final String COLUMNS =
      "step,tokens,seconds,wait_pool,forward,backward,reduce,optimizer";

  @TempDir Path directory;

  private RunDirectory run() throws IOException {
    RunDirectory run = RunDirectory.create(directory);
    Files.writeString(
        run.runFile(), "target: {parallelism: 5}\ndrafter: {parallelism: 3, accumulation: 12}\n");
    return run;
  }

  private static void log(RunDirectory run, int steps) throws IOException {
    StringBuilder csv = new StringBuilder(COLUMNS + "\n");
    for (int step = 0; step < steps; step++) {
      boolean first = step < 20;
      csv.append(
          "%d,%d,%s,0.1,%s,0.5,%s,0.1%n"
              .formatted(step, 1000, first ? 9 : 1, first ? 30 : 0.4, step % 2 == 0 ? 0.25 : 0.75));
    }
    Files.writeString(run.liveLog(), csv);
  }

  @Test
  void isMadeFromWhatTheRunLogs() throws IOException {
    RunDirectory run = run();
    log(run, 200);
    TargetLog targets = new TargetLog(run.targetLog());
    targets.start(0);
    targets.append(new TargetLog.Row(200, 180_000, 600));

    Balance balance = RunBalance.of(run).orElseThrow();

    assertThat(balance.steps()).isEqualTo(200);
    assertThat(balance.targets().devices()).isEqualTo(5);
    assertThat(balance.targets().perDevice()).isEqualTo(300);
    assertThat(balance.drafters().devices()).isEqualTo(3);
    assertThat(balance.drafters().measured()).as("without the first steps").isEqualTo(1000);
    assertThat(balance.drafters().perDevice())
        .as("a step takes a second, and a quarter in an all-reduce that waits for nobody")
        .isEqualTo(1000 / 1.25, within(1e-6));
  }

  @Test
  void isUnknownWhileAStageHasDoneNothing() throws IOException {
    RunDirectory run = run();
    assertThat(RunBalance.of(run)).isEmpty();
    log(run, 3);
    assertThat(RunBalance.of(run)).isEmpty();
    assertThat(RunBalance.of(run, new TargetLog.Total(0, 1, 2)))
        .as("of targets whose first jobs were given up with them")
        .isEmpty();
    assertThat(RunBalance.of(run, new TargetLog.Total(100, 1, 0))).isEmpty();
    assertThat(RunBalance.of(run, new TargetLog.Total(100, 1, 2))).isPresent();
  }

  @Test
  void aDirectoryWithoutARunIsRefused() {
    assertThatThrownBy(() -> RunBalance.of(new RunDirectory(directory)))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("run.yaml is missing");
  }
}
