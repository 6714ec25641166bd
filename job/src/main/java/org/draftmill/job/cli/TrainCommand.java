package org.draftmill.job.cli;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.draftmill.job.config.RunFile;
import org.draftmill.job.console.Console;
import org.draftmill.job.console.ExitCode;
import org.draftmill.job.train.Training;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code draftmill train}: a training run on embedded Flink. */
@Command(
    name = "train",
    description = {
      "Trains a drafter on an embedded Flink with its web UI.",
      "A run directory that has a checkpoint is resumed from it."
    })
public final class TrainCommand implements Callable<Integer> {
  private final Console console;

  @Option(
      names = "--config",
      required = true,
      paramLabel = "run.yaml",
      description = "The run file; docs/options.md lists all keys.")
  private Path config;

  @Option(
      names = "-D",
      paramLabel = "key=value",
      description = "Goes before the run file; may be given many times.")
  private List<String> overrides = new ArrayList<>();

  @Option(
      names = "--fresh",
      description = "Start anew, in another directory if run.dir already holds a run.")
  private boolean fresh;

  public TrainCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() throws Exception {
    Training.Outcome outcome = new Training(console).run(RunFile.read(config, overrides), fresh);
    if (outcome.summary().isEmpty()) {
      return ExitCode.INTERRUPTED;
    }
    outcome.summary().get().report().forEach(console::say);
    console.result("drafter: " + outcome.directory().latestExport());
    return ExitCode.DONE;
  }
}
