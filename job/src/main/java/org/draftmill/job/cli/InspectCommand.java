package org.draftmill.job.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.draftmill.compute.InputException;
import org.draftmill.corpus.dataset.Dataset;
import org.draftmill.corpus.dataset.DatasetManifest;
import org.draftmill.corpus.io.ByteSources;
import org.draftmill.corpus.plan.Plan;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code draftmill inspect}: what a directory holds, and whether it is whole. */
@Command(
    name = "inspect",
    description = {
      "Says what a dataset, plan, checkpoint or drafter holds, and verifies its checksums."
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
    if (!Files.exists(path)) {
      throw new InputException("There is nothing at " + path + ".");
    }
    if (Files.exists(path.resolve(Dataset.FILE))) {
      dataset();
    } else if (Files.exists(path.resolve(Plan.FILE))) {
      plan();
    } else {
      throw new InputException(
          path
              + " is no dataset ("
              + Dataset.FILE
              + "), plan ("
              + Plan.FILE
              + "), checkpoint or drafter (config.json): nothing to inspect.");
    }
    return ExitCode.DONE;
  }

  private void dataset() throws IOException {
    Dataset dataset = Dataset.open(path);
    DatasetManifest manifest = dataset.manifest();
    console.result("dataset " + path);
    List<List<String>> rows = new ArrayList<>();
    rows.add(List.of("sequences", Text.count(manifest.sequences())));
    rows.add(List.of("tokens", Text.count(manifest.tokens())));
    rows.add(List.of("supervised", Text.count(manifest.supervisedTokens())));
    rows.add(List.of("longest", Text.count(manifest.longest())));
    for (Map.Entry<String, Long> reason : manifest.rejected().entrySet()) {
      rows.add(List.of("rejected: " + reason.getKey(), Text.count(reason.getValue())));
    }
    rows.add(List.of("shards", Text.count(manifest.shards().size())));
    Text.table(rows).forEach(console::result);
    console.result("  target       " + manifest.target());
    console.result("  fingerprint  " + manifest.fingerprint());
    dataset.verify();
    console.result("every checksum, row and total is right");
  }

  private void plan() throws IOException {
    Plan plan = Plan.read(ByteSources.directory(path));
    console.result("plan " + path);
    PlanCommand.report(plan.manifest()).forEach(console::result);
    console.result("  seed     " + plan.manifest().seed());
    console.result("  dataset  " + plan.manifest().dataset());
    plan.verify();
    console.result("every checksum and total is right");
  }
}
