package org.draftmill.job.cli;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.draftmill.compute.InputException;
import org.draftmill.corpus.io.InputFile;
import org.draftmill.job.balance.Balance;
import org.draftmill.job.balance.BalanceReport;
import org.draftmill.job.balance.TargetLog;
import org.draftmill.job.console.Console;
import org.draftmill.job.console.ExitCode;
import org.draftmill.job.embedded.RestMetrics;
import org.draftmill.job.run.RunDirectory;
import org.draftmill.job.train.RunBalance;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code draftmill balance}: which stage a run waits for, and how its devices are used best. */
@Command(
    name = "balance",
    description =
        "Says which stage bounds a run, and which split of its devices would be the fastest.")
public final class BalanceCommand implements Callable<Integer> {
  private final Console console;

  @Parameters(paramLabel = "RUN", description = "The directory of a run, also of one that runs.")
  private Path path;

  @Option(
      names = "--rest",
      paramLabel = "URL",
      description =
          "Address of the web UI of the cluster on which it runs now; an embedded run needs none.")
  private URI rest;

  public BalanceCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() throws Exception {
    InputFile.requireFolder(path);
    RunDirectory run = new RunDirectory(path);
    Optional<Balance> balance =
        rest == null ? RunBalance.of(run) : RunBalance.of(run, targets(run.jobName()));
    console.result("balance of " + path);
    BalanceReport.lines(balance.orElseThrow(this::tooEarly)).forEach(console::result);
    return ExitCode.DONE;
  }

  private TargetLog.Total targets(String job) throws InterruptedException {
    try {
      return RestMetrics.targets(rest, job);
    } catch (IOException | IllegalArgumentException e) {
      throw new InputException(
          "Nothing at --rest %s answers as Flink's web UI does (%s). Give its address as http://HOST:PORT."
              .formatted(rest, e.getMessage() == null ? "no connection" : e.getMessage()),
          e);
    }
  }

  private InputException tooEarly() {
    return new InputException(
        "The run in %s has not logged yet what both stages did: wait for its first steps.%s"
            .formatted(
                path,
                rest == null
                    ? " Of a run on a cluster, --rest URL asks for what targets did."
                    : ""));
  }
}
