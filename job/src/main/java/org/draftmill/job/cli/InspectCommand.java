package org.draftmill.job.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.draftmill.compute.InputException;
import org.draftmill.compute.drafter.DrafterConfig;
import org.draftmill.compute.drafter.DrafterExport;
import org.draftmill.compute.drafter.DrafterStateFiles;
import org.draftmill.corpus.dataset.Dataset;
import org.draftmill.corpus.dataset.DatasetManifest;
import org.draftmill.corpus.io.ByteSources;
import org.draftmill.corpus.io.InputFile;
import org.draftmill.corpus.plan.Plan;
import org.draftmill.job.balance.BalanceReport;
import org.draftmill.job.console.Console;
import org.draftmill.job.console.ExitCode;
import org.draftmill.job.console.Text;
import org.draftmill.job.run.DrafterStates;
import org.draftmill.job.run.FlinkCheckpoint;
import org.draftmill.job.run.RunDirectory;
import org.draftmill.job.run.SavedState;
import org.draftmill.job.train.RunBalance;
import org.draftmill.job.train.TrainingLog;
import org.draftmill.operators.drafter.state.MetadataChecksums;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code draftmill inspect}: what a directory holds, and whether it is whole. */
@Command(
    name = "inspect",
    description = {
      "Says what a dataset, plan, run, checkpoint or drafter holds, and verifies its checksums."
    })
public final class InspectCommand implements Callable<Integer> {
  private final Console console;

  @Parameters(paramLabel = "PATH", description = "A directory that Draftmill made.")
  private Path path;

  public InspectCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() throws Exception {
    InputFile.requireFolder(path);
    if (holds(Dataset.FILE)) {
      dataset();
    } else if (holds(Plan.FILE)) {
      plan();
    } else if (holds("_metadata")) {
      checkpoint();
    } else if (isRun()) {
      run();
    } else if (holds("config.json")) {
      drafter();
    } else if (namesStep()) {
      states();
    } else {
      throw new InputException(
          path
              + " is no dataset (dataset.json), plan (plan.json), run (run.yaml and log/), checkpoint"
              + " (_metadata), drafter (config.json) or state of one (step-NNNNNNNN): nothing to"
              + " inspect.");
    }
    return ExitCode.DONE;
  }

  /** A link that leads nowhere counts, so that it is said. */
  private boolean holds(String name) {
    return InputFile.isNamed(path.resolve(name));
  }

  /** A run file alone may lie anywhere; a run has written beside it. */
  private boolean isRun() {
    RunDirectory run = new RunDirectory(path);
    return Files.exists(run.runFile()) && Files.isDirectory(run.log());
  }

  /** Whether the directory has the name of a drafter's state; a file system's root has no name. */
  private boolean namesStep() {
    Path name = path.toAbsolutePath().normalize().getFileName();
    return name != null && name.toString().startsWith("step-");
  }

  private void dataset() throws IOException {
    Dataset dataset = Dataset.open(path);
    DatasetManifest manifest = dataset.manifest();
    List<List<String>> rows = new ArrayList<>();
    rows.add(List.of("sequences", Text.count(manifest.sequences())));
    rows.add(List.of("tokens", Text.count(manifest.tokens())));
    rows.add(List.of("supervised", Text.count(manifest.supervisedTokens())));
    rows.add(List.of("longest", Text.count(manifest.longest())));
    for (Map.Entry<String, Long> reason : manifest.rejected().entrySet()) {
      rows.add(List.of("rejected: " + reason.getKey(), Text.count(reason.getValue())));
    }
    rows.add(List.of("shards", Text.count(manifest.shards().size())));
    print("dataset", Text.table(rows));
    console.result("  target       " + manifest.target());
    console.result("  fingerprint  " + manifest.fingerprint());
    dataset.verify();
    console.result("every checksum, row and total is right");
  }

  private void plan() throws IOException {
    Plan plan = Plan.read(ByteSources.directory(path));
    print("plan", PlanCommand.report(plan.manifest()));
    console.result("  seed     " + plan.manifest().seed());
    console.result("  dataset  " + plan.manifest().dataset());
    plan.verify();
    console.result("every checksum and total is right");
  }

  private void checkpoint() throws IOException {
    InputFile.open(path.resolve("_metadata")).close();
    boolean known = requireMetadata();
    FlinkCheckpoint checkpoint = FlinkCheckpoint.read(path);
    List<List<String>> rows = new ArrayList<>();
    rows.add(List.of("stage", "subtasks", "state"));
    for (FlinkCheckpoint.Stage stage : checkpoint.stages()) {
      rows.add(
          List.of(stage.name(), Integer.toString(stage.parallelism()), Text.bytes(stage.bytes())));
    }
    print("checkpoint " + checkpoint.id() + " in", Text.table(rows));
    checkpoint.requireFiles();
    console.result(
        "every file that it refers to is there, "
            + (known
                ? "the checksum of its _metadata is right"
                : "no checksum of its _metadata is known here"));
  }

  /**
   * A run's checkpoints have their checksums beside them, one folder up (savepoints) or two.
   *
   * @return whether there was one to compare with
   */
  private boolean requireMetadata() throws IOException {
    Path state = path.toAbsolutePath().normalize();
    Path folder = state.getParent();
    for (int up = 0; up < 2 && folder != null; up++, folder = folder.getParent()) {
      MetadataChecksums checksums = new MetadataChecksums(folder);
      if (checksums.of(state).isPresent()) {
        if (!checksums.matches(state)) {
          throw new InputException(
              path
                  + " is damaged: the checksum of its _metadata is not the one that it was completed with.");
        }
        return true;
      }
    }
    return false;
  }

  private void run() throws IOException {
    RunDirectory run = new RunDirectory(path);
    List<TrainingLog.Row> log = TrainingLog.read(run.log());
    List<List<String>> rows = new ArrayList<>();
    rows.add(List.of("steps in the log", Text.count(log.size())));
    rows.add(
        List.of("jobs trained", Text.count(log.stream().mapToInt(row -> row.jobs().size()).sum())));
    rows.add(
        List.of("states to resume from", Text.count(SavedState.list(run.checkpoints()).size())));
    rows.add(List.of("complete", Files.exists(run.summary()) ? "yes" : "no"));
    print("run", Text.table(rows));
    RunBalance.of(run).map(BalanceReport::lines).orElse(List.of()).forEach(console::result);
    if (Files.exists(run.latestExport())) {
      console.result("  drafter  " + run.latestExport().toRealPath());
    }
  }

  private void drafter() {
    DrafterExport.Exported exported = DrafterExport.read(path);
    print("drafter", shape(exported.config()));
    for (float weight : exported.weights()) {
      if (!Float.isFinite(weight)) {
        throw new InputException("The drafter in " + path + " has weights that are not finite.");
      }
    }
    console.result("every tensor has its name and shape, all weights are finite");
  }

  private void states() throws IOException {
    try (DrafterStateFiles states = DrafterStateFiles.open(DrafterStates.newest(path))) {
      List<String> lines = new ArrayList<>(shape(states.config()));
      lines.add("  before step " + states.step() + ", " + states.updates() + " updates,");
      lines.add("  written by " + states.writers() + " drafters");
      print("state of a drafter", lines);
      states.verify();
    }
    console.result("every checksum is right");
  }

  private static List<String> shape(DrafterConfig config) {
    return Text.table(
        List.of(
            List.of("layers", Integer.toString(config.layers())),
            List.of("block size", Integer.toString(config.blockSize())),
            List.of("hidden size", Integer.toString(config.hiddenSize())),
            List.of("taps", config.taps().layers() + " of " + config.targetLayers()),
            List.of("mask token", Integer.toString(config.maskToken())),
            List.of(
                "parameters",
                Text.count(new org.draftmill.compute.drafter.ParameterLayout(config).size()))));
  }

  private void print(String what, List<String> lines) {
    console.result(what + " " + path);
    lines.forEach(console::result);
  }
}
