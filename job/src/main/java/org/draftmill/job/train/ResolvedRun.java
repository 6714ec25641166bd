package org.draftmill.job.train;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.OptionalInt;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.Configuration;
import org.draftmill.compute.InputException;
import org.draftmill.compute.drafter.MaskToken;
import org.draftmill.compute.target.TargetConfig;
import org.draftmill.corpus.dataset.Dataset;
import org.draftmill.corpus.plan.Plan;
import org.draftmill.job.config.AbsolutePaths;
import org.draftmill.job.config.CheckpointOptions;
import org.draftmill.job.config.RunOptions;
import org.draftmill.job.run.RunDirectory;
import org.draftmill.operators.drafter.DrafterOptions;
import org.draftmill.operators.drafter.DrafterSettings;
import org.draftmill.operators.drafter.state.RunIdentity;
import org.draftmill.operators.jobs.JobsSettings;
import org.draftmill.operators.pool.PoolOptions;
import org.draftmill.operators.pool.PoolSettings;
import org.draftmill.operators.target.TargetOptions;
import org.draftmill.operators.target.TargetSettings;
import org.draftmill.serializers.HiddenStateChunkFormat;

/**
 * A run with all that its options refer to: plan, target and the checked settings of each stage.
 *
 * @param options as given, with absolute paths
 * @param directory where it works
 * @param jobs which jobs
 * @param plan their lists
 * @param targetConfig of the frozen model
 * @param targets how many
 * @param maxDeadLetters jobs that may be given up
 */
public record ResolvedRun(
    Configuration options,
    RunDirectory directory,
    JobsSettings jobs,
    Plan plan,
    TargetConfig targetConfig,
    int targets,
    TargetSettings target,
    PoolSettings pool,
    DrafterSettings drafter,
    int maxDeadLetters) {
  /**
   * Opens and checks everything, and plans if there is no plan yet.
   *
   * @throws InputException naming the option or file that cannot be used
   */
  public static ResolvedRun of(Configuration given) throws IOException {
    Configuration options = AbsolutePaths.in(given);
    RunDirectory directory = directory(options);
    OptionsCheck.require(options, directory);
    long seed = options.get(RunOptions.SEED);
    JobsSettings jobs = JobsSettings.from(options, seed, directory.plan().toString());
    Dataset dataset = Dataset.open(Path.of(jobs.dataset()));
    Path model = Path.of(required(options, TargetOptions.MODEL));
    TargetConfig targetConfig = TargetConfig.read(model);
    int targets = options.get(TargetOptions.PARALLELISM);
    int drafters = options.get(DrafterOptions.PARALLELISM);
    boolean softLabels = options.get(DrafterOptions.USE_SOFT_LABELS);
    int cores = Runtime.getRuntime().availableProcessors();
    TargetSettings target =
        TargetSettings.from(
            options,
            new TargetSettings.Run(
                jobs.dataset(),
                options.get(DrafterOptions.LAYERS),
                softLabels,
                Math.max(1, cores / (targets + drafters))));
    Plan plan = Planning.planOf(dataset, Path.of(jobs.plan()), jobs.planning());
    int accumulation = options.get(DrafterOptions.ACCUMULATION);
    long wanted = wantedJobs(options, plan, accumulation);
    PoolSettings pool =
        PoolSettings.from(
            options,
            new PoolSettings.Run(
                seed,
                wanted,
                accumulation,
                drafters,
                jobs.planning().bounds().buckets(),
                largestJobBytes(plan, targetConfig, target)));
    DrafterSettings drafter =
        DrafterSettings.from(
            options,
            new DrafterSettings.Run(
                directory.root().toString(),
                model.toAbsolutePath().toString(),
                target.taps(),
                maskToken(options, model, targetConfig),
                seed,
                wanted,
                pool.shards(),
                options.get(CheckpointOptions.KEEP),
                identity(pool, plan, model)));
    requirePasses(plan, drafter, options.get(DrafterOptions.BLOCK_SIZE));
    return new ResolvedRun(
        options,
        directory,
        jobs,
        plan,
        targetConfig,
        targets,
        target,
        pool,
        drafter,
        options.get(TargetOptions.MAX_DEAD_LETTERS));
  }

  /** The directory of a run, made if it is absent. */
  static RunDirectory directory(Configuration options) {
    return RunDirectory.create(Path.of(required(options, RunOptions.DIR)));
  }

  /** Optimizer steps of the whole run. */
  public long steps() {
    return drafter.totalSteps();
  }

  /** Jobs that the run works on: the whole plan, or what {@code run.max-steps} steps take. */
  public long wantedJobs() {
    return pool.run().jobs();
  }

  private static long wantedJobs(Configuration options, Plan plan, int accumulation) {
    long steps = options.getOptional(RunOptions.MAX_STEPS).orElse(Long.MAX_VALUE);
    return steps > plan.jobs() ? plan.jobs() : Math.min(plan.jobs(), steps * accumulation);
  }

  private static void requirePasses(Plan plan, DrafterSettings drafter, int blockSize) {
    PassLimit.require(
        new PassLimit.Step(
            plan.manifest().largestJobTokens(),
            plan.manifest().largestJobSequences(),
            blockSize,
            drafter.training().anchors(),
            drafter.training().passRows(),
            drafter.accumulation()));
  }

  private static RunIdentity identity(PoolSettings pool, Plan plan, Path model) {
    return new RunIdentity(Map.of())
        .with(PoolOptions.MIN_READY.key(), pool.minReady())
        .with(PoolOptions.WINDOW.key(), pool.window())
        .with(PoolOptions.RELEASE.key(), pool.release())
        .with("the plan", Identity.of(plan))
        .with("the target", Identity.of(model))
        .with("the target's tokenizer", Identity.ofTokenizer(model));
  }

  /** Bytes of all chunks of the largest job, however they are cut. */
  private static long largestJobBytes(Plan plan, TargetConfig config, TargetSettings target) {
    long rows = plan.manifest().largestJobTokens();
    int tapColumns = target.taps().size() * config.hidden();
    int finalColumns = target.finalStates() ? config.hidden() : 0;
    return rows
        * HiddenStateChunkFormat.smallestChunk(tapColumns, finalColumns, target.hiddenDtype());
  }

  private static int maskToken(Configuration options, Path model, TargetConfig config) {
    OptionalInt given =
        options.getOptional(DrafterOptions.MASK_TOKEN).stream().mapToInt(id -> id).findFirst();
    if (given.isPresent()) {
      return MaskToken.resolve(given, OptionalInt.empty(), id -> true, config.vocabulary());
    }
    TokenizerVocabulary tokenizer = TokenizerVocabulary.read(model);
    return MaskToken.resolve(given, tokenizer.maskToken(), tokenizer::uses, config.vocabulary());
  }

  private static String required(Configuration options, ConfigOption<String> option) {
    return options
        .getOptional(option)
        .filter(value -> !value.isBlank())
        .orElseThrow(
            () ->
                new InputException(
                    "The option %s is missing: give it in the run file or as -D %s=…."
                        .formatted(option.key(), option.key())));
  }
}
