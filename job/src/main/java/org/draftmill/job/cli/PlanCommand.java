package org.draftmill.job.cli;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.draftmill.corpus.dataset.Dataset;
import org.draftmill.corpus.plan.BucketBounds;
import org.draftmill.corpus.plan.Oversized;
import org.draftmill.corpus.plan.PlanInput;
import org.draftmill.corpus.plan.PlanManifest;
import org.draftmill.corpus.plan.PlanOptions;
import org.draftmill.corpus.plan.PlanWriter;
import org.draftmill.job.console.Console;
import org.draftmill.job.console.ExitCode;
import org.draftmill.job.console.OutputFolder;
import org.draftmill.job.console.Text;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code draftmill plan}: the job lists of a dataset. */
@Command(
    name = "plan",
    description = {
      "Forms the job lists of a dataset: shuffled, in length buckets, under a token budget.",
      "The same dataset and options give the same bytes."
    })
public final class PlanCommand implements Callable<Integer> {
  private final Console console;

  @Option(
      names = "--dataset",
      required = true,
      paramLabel = "DIR",
      description = "What prepare made.")
  private Path dataset;

  @Option(
      names = "--out",
      required = true,
      paramLabel = "DIR",
      description = "A new directory for the lists.")
  private Path out;

  @Option(
      names = "--epochs",
      paramLabel = "N",
      defaultValue = "1",
      description = "Passes over the dataset, each in an order of its own (${DEFAULT-VALUE}).")
  private int epochs;

  @Option(
      names = "--token-budget",
      paramLabel = "N",
      defaultValue = "" + PlanOptions.DEFAULT_TOKEN_BUDGET,
      description = "The most tokens in a job (${DEFAULT-VALUE}).")
  private int tokenBudget;

  @Option(
      names = "--bucket-bounds",
      paramLabel = "a,b,…",
      defaultValue = "512,1024,2048,4096,8192",
      description = "Borders between length buckets in tokens (${DEFAULT-VALUE}).")
  private String bucketBounds;

  @Option(
      names = "--seed",
      paramLabel = "N",
      defaultValue = "42",
      description = "Chooses the orders (${DEFAULT-VALUE}).")
  private long seed;

  @Option(
      names = "--oversized",
      paramLabel = "HOW",
      defaultValue = "own-job",
      description =
          "What happens to a sequence longer than the budget: own-job or reject"
              + " (${DEFAULT-VALUE}).")
  private String oversized;

  public PlanCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() throws Exception {
    PlanOptions options =
        new PlanOptions(
            seed,
            epochs,
            tokenBudget,
            BucketBounds.parse(bucketBounds),
            Oversized.parse(oversized));
    PlanInput input = Dataset.open(dataset).planInput();
    OutputFolder.require("--out", out);
    PlanManifest plan = PlanWriter.write(input, options, out);
    report(plan).forEach(console::say);
    console.result("plan: " + out);
    return ExitCode.DONE;
  }

  /** What a plan holds, in lines. */
  static List<String> report(PlanManifest plan) {
    List<String> lines = new ArrayList<>();
    lines.add(
        "%s in %s, %s tokens, %s of them supervised; the largest job has %s tokens in %s sequences"
            .formatted(
                Text.count(plan.jobs(), "job"),
                Text.count(plan.epochs().size(), "epoch"),
                Text.count(plan.tokens()),
                Text.count(plan.supervisedTokens()),
                Text.count(plan.largestJobTokens()),
                Text.count(plan.largestJobSequences())));
    if (plan.leftOutSequences() > 0) {
      lines.add(
          Text.count(plan.leftOutSequences())
              + " sequences are longer than the budget and left out");
    }
    List<List<String>> rows = new ArrayList<>();
    rows.add(List.of("length", "jobs", "sequences", "tokens"));
    for (PlanManifest.Bucket bucket : plan.epochs().get(0).buckets()) {
      if (bucket.jobs() > 0) {
        rows.add(
            List.of(
                bucket.lengths(),
                Text.count(bucket.jobs()),
                Text.count(bucket.sequences()),
                Text.count(bucket.tokens())));
      }
    }
    lines.addAll(Text.table(rows));
    return lines;
  }
}
