package org.draftmill.job.demo;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.ZonedDateTime;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.apache.flink.configuration.Configuration;
import org.draftmill.compute.InputException;
import org.draftmill.compute.decoding.DecodingFigures;
import org.draftmill.compute.decoding.DecodingSettings;
import org.draftmill.compute.drafter.DrafterConfig;
import org.draftmill.corpus.dataset.Dataset;
import org.draftmill.corpus.dataset.DatasetManifest;
import org.draftmill.corpus.text.TargetText;
import org.draftmill.job.config.RunFile;
import org.draftmill.job.config.RunOptions;
import org.draftmill.job.console.Console;
import org.draftmill.job.console.Text;
import org.draftmill.job.evaluate.Evaluation;
import org.draftmill.job.evaluate.FiguresReport;
import org.draftmill.job.evaluate.Prompts;
import org.draftmill.job.prepare.Preparation;
import org.draftmill.job.prepare.PrepareSettings;
import org.draftmill.job.run.RunDirectory;
import org.draftmill.job.train.OptionsCheck;
import org.draftmill.job.train.ResolvedRun;
import org.draftmill.job.train.Summary;
import org.draftmill.job.train.Training;
import org.draftmill.operators.drafter.DrafterOptions;
import org.draftmill.operators.jobs.JobsOptions;
import org.draftmill.operators.target.TargetOptions;

/**
 * The whole way on the shipped target: prepare, plan, evaluate the untrained drafter, train,
 * evaluate again. What is there already is not done again, so an interrupted demo goes on.
 */
public final class Demo {
  /** Held-out chats that the acceptance length is measured on. */
  private static final int PROMPTS = 24;

  private static final int NEW_TOKENS = 64;

  private final Console console;
  private final Path files;
  private final Path out;
  private final int threads = Runtime.getRuntime().availableProcessors();

  /**
   * @param files the shipped target, text and prompts
   * @param out where everything goes
   */
  public Demo(Console console, Path files, Path out) {
    if (!Files.isDirectory(files.resolve("target"))) {
      throw new InputException(
          "The demo's files are not at " + files + "; run ./draftmill from a checkout.");
    }
    this.console = console;
    this.files = files;
    this.out = out.toAbsolutePath().normalize();
  }

  /**
   * @param overrides of the demo's run file, {@code key=value} each
   * @param steps to train, null for those of the run file
   * @return empty when it was interrupted
   */
  public Optional<Summary> run(List<String> overrides, Integer steps) throws Exception {
    Configuration options = options(overrides, steps);
    OptionsCheck.require(options, new RunDirectory(out));
    Path summaryFile = out.resolve("summary.json");
    if (Files.exists(summaryFile)) {
      Summary complete = Summary.read(summaryFile);
      if (complete.tauAfter() != null) {
        console.say("This demo is complete; give another --out to run it again.");
        conclude(complete);
        return Optional.of(complete);
      }
    }
    DatasetManifest data = prepare();
    if (steps != null) {
      limit(options, steps, data);
    }
    ResolvedRun resolved = ResolvedRun.of(options);

    List<int[]> prompts = prompts();
    console.heading("Before training");
    FirstEvaluation before = before(resolved, prompts);

    console.heading("Training");
    Training.Outcome outcome = new Training(console).run(options, false);
    if (outcome.summary().isEmpty()) {
      return Optional.empty();
    }
    outcome.summary().get().report().forEach(console::say);

    console.heading("After training");
    DecodingFigures after =
        new Evaluation(console, "auto", threads)
            .exported(
                files.resolve("target"),
                outcome.directory().latestExport(),
                prompts,
                DecodingSettings.greedy(NEW_TOKENS));
    FiguresReport.lines(after).forEach(line -> console.say("  " + line));
    Summary summary =
        outcome
            .summary()
            .get()
            .withEvaluation(
                before.acceptance(),
                after.tauPooled(),
                before.greedyEqual() && after.greedyEqual().orElseThrow());
    summary.write(outcome.directory().summary());
    conclude(summary);
    return Optional.of(summary);
  }

  private Configuration options(List<String> overrides, Integer steps) {
    Configuration options = RunFile.read(files.resolve("run.yaml"), List.of());
    options.set(RunOptions.DIR, out.toString());
    options.set(TargetOptions.MODEL, files.resolve("target").toString());
    options.set(JobsOptions.DATASET, data().toString());
    options.addAll(RunFile.parse("demo", "", overrides));
    if (steps != null) {
      options.set(RunOptions.MAX_STEPS, (long) steps);
    }
    return options;
  }

  /** What an earlier process of this demo has found, or is found now. */
  private FirstEvaluation before(ResolvedRun run, List<int[]> prompts) throws IOException {
    DrafterConfig shape = run.drafter().shape(run.targetConfig());
    long seed = run.options().get(RunOptions.SEED);
    String drafter = "seed " + seed + ", " + shape;
    Path file = out.resolve(FirstEvaluation.FILE);
    Optional<FirstEvaluation> stored = FirstEvaluation.read(file, drafter);
    if (stored.isPresent()) {
      console.say(
          String.format(
              Locale.ROOT, "  acceptance length  %.3f, found before", stored.get().acceptance()));
      return stored.get();
    }
    DecodingFigures figures =
        new Evaluation(console, "auto", threads)
            .untrained(
                files.resolve("target"), shape, seed, prompts, DecodingSettings.greedy(NEW_TOKENS));
    FiguresReport.lines(figures).forEach(line -> console.say("  " + line));
    FirstEvaluation found =
        new FirstEvaluation(drafter, figures.tauPooled(), figures.greedyEqual().orElseThrow());
    found.write(file);
    return found;
  }

  /** As many epochs as surely hold the steps. */
  private static void limit(Configuration options, int steps, DatasetManifest data) {
    long jobsOfEpoch = Math.max(1, data.tokens() / options.get(JobsOptions.TOKEN_BUDGET));
    long jobs = (long) steps * options.get(DrafterOptions.ACCUMULATION);
    options.set(JobsOptions.EPOCHS, (int) ((jobs + jobsOfEpoch - 1) / jobsOfEpoch));
  }

  private Path data() {
    return out.resolve("data");
  }

  private DatasetManifest prepare() throws Exception {
    console.heading("Preparing the text");
    DatasetManifest manifest;
    if (Files.exists(data().resolve(Dataset.FILE))) {
      manifest = Dataset.open(data()).manifest();
    } else {
      int maxLength;
      try (TargetText text = TargetText.load(files.resolve("target"), ZonedDateTime.now())) {
        maxLength = text.maxPositions();
      }
      manifest =
          new Preparation(console)
              .run(
                  new PrepareSettings(
                      files.resolve("target"),
                      List.of(files.resolve("corpus.jsonl")),
                      data(),
                      maxLength,
                      threads,
                      ZonedDateTime.now()));
    }
    console.say(
        "  %s chats and texts, %s tokens"
            .formatted(Text.count(manifest.sequences()), Text.count(manifest.tokens())));
    return manifest;
  }

  private List<int[]> prompts() throws Exception {
    try (TargetText text = TargetText.load(files.resolve("target"), ZonedDateTime.now())) {
      return Prompts.read(files.resolve("prompts.jsonl"), text, PROMPTS);
    }
  }

  private void conclude(Summary summary) {
    console.result("");
    console.result(
        console.bold(
            String.format(
                Locale.ROOT,
                "acceptance length %.2f → %.2f",
                summary.tauBefore(),
                summary.tauAfter())));
    console.result("drafter   " + summary.drafter());
    console.result("summary   " + out.resolve("summary.json"));
  }
}
