package org.draftmill.job.cli;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.draftmill.job.config.RunFile;
import org.draftmill.job.train.Summary;
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
    report(outcome.summary().get()).forEach(console::say);
    console.result("drafter: " + outcome.directory().latestExport());
    return ExitCode.DONE;
  }

  /** How fast a run was, in lines. */
  public static List<String> report(Summary summary) {
    return List.of(
        "%s steps, %s jobs, %s tokens in %s: %s tokens/s"
            .formatted(
                Text.count(summary.steps()),
                Text.count(summary.jobs()),
                Text.count(summary.tokens()),
                Text.duration(Duration.ofMillis((long) (1000 * summary.seconds()))),
                Text.shortCount(summary.tokensPerSecond())),
        "busy: targets %s, drafters %s"
            .formatted(share(summary.targetBusy()), share(summary.drafterBusy())));
  }

  private static String share(Double value) {
    return value == null ? "unknown" : Text.percent(value);
  }
}
