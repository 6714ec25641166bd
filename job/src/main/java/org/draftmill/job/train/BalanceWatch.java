package org.draftmill.job.train;

import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import org.draftmill.job.balance.Balance;
import org.draftmill.job.balance.BalanceReport;
import org.draftmill.job.balance.TargetLog;
import org.draftmill.job.console.Console;
import org.draftmill.job.run.RunDirectory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps what the targets have done in the run directory, and says once, after enough steps, how the
 * stages are balanced.
 */
final class BalanceWatch {
  private static final Logger LOG = LoggerFactory.getLogger(BalanceWatch.class);
  private static final long ROW_NANOS = Duration.ofSeconds(10).toNanos();

  private final Console console;
  private final RunDirectory run;
  private final TargetLog targets;
  private long lastRow = System.nanoTime();
  private long steps; // of this process
  private boolean said;

  BalanceWatch(Console console, RunDirectory run) throws IOException {
    this.console = console;
    this.run = run;
    targets = new TargetLog(run.targetLog());
    targets.start(now());
  }

  /**
   * Takes what the targets report.
   *
   * @param tokens of all targets since they started
   */
  void targets(double tokens, double busySeconds) throws IOException {
    if (System.nanoTime() - lastRow >= ROW_NANOS) {
      lastRow = System.nanoTime();
      targets.append(new TargetLog.Row(now(), tokens, busySeconds));
      sayIfItIsTime();
    }
  }

  /** The last of it, when the job has ended; NaN if the targets did nothing. */
  void end(double tokens, double busySeconds) throws IOException {
    if (tokens > 0 && busySeconds > 0) {
      targets.append(new TargetLog.Row(now(), tokens, busySeconds));
    }
  }

  /** Drafters took so many steps more. */
  void stepped(int more) {
    steps += more;
  }

  private void sayIfItIsTime() throws IOException {
    if (said || steps < Balance.ENOUGH_STEPS) {
      return;
    }
    Optional<Balance> balance = RunBalance.of(run);
    if (balance.isPresent()) {
      said = true;
      String line = BalanceReport.line(balance.get());
      LOG.info("After {} steps of this process: {}", steps, line);
      console.say("balance     " + line);
    }
  }

  private static double now() {
    return System.currentTimeMillis() / 1000.0;
  }
}
