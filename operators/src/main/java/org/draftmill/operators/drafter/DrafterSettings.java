package org.draftmill.operators.drafter;

import java.io.Serializable;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ReadableConfig;
import org.draftmill.compute.InputException;
import org.draftmill.compute.cuda.MatrixProducts;
import org.draftmill.compute.drafter.DrafterConfig;
import org.draftmill.compute.drafter.OptimizerSettings;
import org.draftmill.compute.ops.HeadLoss;
import org.draftmill.compute.target.Taps;
import org.draftmill.compute.target.TargetConfig;
import org.draftmill.operators.drafter.collective.CollectiveOptions;
import org.draftmill.operators.drafter.state.RunIdentity;
import org.draftmill.operators.gpu.DeviceLease;
import org.draftmill.operators.gpu.GpuProducts;
import org.draftmill.operators.start.StartClock;

/** The drafter's settings, checked. Serializable: it travels to the TaskManagers. */
public final class DrafterSettings implements Serializable {
  private static final long serialVersionUID = 1L;

  private final Configuration options;
  private final Run run;
  private final RunIdentity identity;

  /**
   * What the drafter has to know of the run.
   *
   * @param directory of the run, on a file system that all drafters share
   * @param target directory of the target
   * @param taps layers of the target that are tapped
   * @param maskToken id that stands for a token still to be drafted
   * @param seed of the run
   * @param jobs of all epochs together
   * @param shards logical pools
   * @param checkpointsKept completed checkpoints that the run retains
   * @param identity what else must stay as it was for the run to be the same run: {@code
   *     min-ready}, {@code window}, checksums of plan and target
   */
  public record Run(
      String directory,
      String target,
      List<Integer> taps,
      int maskToken,
      long seed,
      long jobs,
      int shards,
      int checkpointsKept,
      RunIdentity identity)
      implements Serializable {
    private static final long serialVersionUID = 1L;

    public Run {
      taps = new ArrayList<>(taps);
    }
  }

  private DrafterSettings(Configuration options, Run run) {
    this.options = options;
    this.run = run;
    identity = identify();
  }

  /**
   * Reads and checks the drafter's options.
   *
   * @throws InputException naming the option that cannot be
   */
  public static DrafterSettings from(ReadableConfig config, Run run) {
    DrafterSettings settings = new DrafterSettings(copy(config), run);
    settings.check();
    return settings;
  }

  private void check() {
    atLeast(DrafterOptions.PARALLELISM, 1);
    atLeast(DrafterOptions.LAYERS, 1);
    atLeast(DrafterOptions.BLOCK_SIZE, 2);
    atLeast(DrafterOptions.ACCUMULATION, 1);
    atLeast(DrafterOptions.SLIDING_WINDOW, 0);
    atLeast(DrafterOptions.KEEP_EXPORTS, 0);
    atLeast(DrafterOptions.MAX_SKIPPED_STEPS, 0);
    if (options.contains(DrafterOptions.THREADS)) {
      atLeast(DrafterOptions.THREADS, 1);
    }
    positive(DrafterOptions.TIMEOUT);
    positive(DrafterOptions.REDUCE_TIMEOUT);
    positive(StartClock.TIMEOUT);
    if (options.get(DrafterOptions.BETAS).size() != 2) {
      throw new InputException(
          "%s = %s must be two numbers."
              .formatted(DrafterOptions.BETAS.key(), options.get(DrafterOptions.BETAS)));
    }
    for (int layer : options.get(DrafterOptions.SLIDING_LAYERS)) {
      if (layer < 0 || layer >= options.get(DrafterOptions.LAYERS)) {
        throw new InputException(
            "%s names layer %d, but the drafter has the layers 0 to %d (%s)."
                .formatted(
                    DrafterOptions.SLIDING_LAYERS.key(),
                    layer,
                    options.get(DrafterOptions.LAYERS) - 1,
                    DrafterOptions.LAYERS.key()));
      }
    }
    DeviceLease.requireKnown(DrafterOptions.DEVICE.key(), device());
    training(); // checks the rest
  }

  public Run run() {
    return run;
  }

  /** The run directory. */
  public Path directory() {
    return Path.of(run.directory());
  }

  public int parallelism() {
    return options.get(DrafterOptions.PARALLELISM);
  }

  /** Microbatches of a step, all drafters together. */
  public int accumulation() {
    return options.get(DrafterOptions.ACCUMULATION);
  }

  /** Optimizer steps of the whole run. */
  public long totalSteps() {
    return (run.jobs() + accumulation() - 1) / accumulation();
  }

  public String device() {
    return options.get(DrafterOptions.DEVICE);
  }

  public int threads() {
    int cores = Runtime.getRuntime().availableProcessors();
    return options.getOptional(DrafterOptions.THREADS).orElse(Math.max(1, cores / parallelism()));
  }

  /** What multiplies matrices on a GPU. */
  public MatrixProducts products() {
    return GpuProducts.of(options);
  }

  /** Directory of a drafter whose weights are the first ones. */
  public Optional<Path> init() {
    return options.getOptional(DrafterOptions.INIT).map(Path::of);
  }

  public Duration timeout() {
    return options.get(DrafterOptions.TIMEOUT);
  }

  /** The longest that a drafter may take to get ready, and to meet the others then. */
  public Duration startTimeout() {
    return options.get(StartClock.TIMEOUT);
  }

  /** Steps that may be skipped for a value that is not finite. */
  public int maxSkippedSteps() {
    return options.get(DrafterOptions.MAX_SKIPPED_STEPS);
  }

  public Optional<String> bindHost() {
    return options.getOptional(DrafterOptions.BIND_HOST);
  }

  /** Exports that stay besides the latest one; all if none is given. */
  public int keepExports() {
    int keep = options.get(DrafterOptions.KEEP_EXPORTS);
    return keep == 0 ? Integer.MAX_VALUE : keep;
  }

  public CollectiveOptions collective() {
    return new CollectiveOptions(options.get(DrafterOptions.REDUCE_TIMEOUT));
  }

  /** The drafter's shape over a target. */
  public DrafterConfig shape(TargetConfig target) {
    List<Integer> sliding = options.get(DrafterOptions.SLIDING_LAYERS);
    List<Boolean> layers = new ArrayList<>();
    for (int layer = 0; layer < options.get(DrafterOptions.LAYERS); layer++) {
      layers.add(sliding.contains(layer));
    }
    return DrafterConfig.of(
        target,
        new DrafterConfig.Choices(
            new Taps(run.taps()),
            options.get(DrafterOptions.BLOCK_SIZE),
            run.maskToken(),
            layers,
            sliding.isEmpty() ? 0 : options.get(DrafterOptions.SLIDING_WINDOW)));
  }

  /** How it is trained. */
  public org.draftmill.compute.drafter.DrafterSettings training() {
    return new org.draftmill.compute.drafter.DrafterSettings(
        run.seed(),
        totalSteps(),
        options.get(DrafterOptions.ANCHORS),
        loss(),
        optimizer(),
        options.get(DrafterOptions.PASS_ROWS),
        options.get(DrafterOptions.LOGIT_MEMORY).getBytes());
  }

  private HeadLoss.Settings loss() {
    HeadLoss.Settings usual =
        org.draftmill.compute.drafter.DrafterSettings.hardLabels(
            options.get(DrafterOptions.BLOCK_SIZE));
    return new HeadLoss.Settings(
        options.get(DrafterOptions.USE_SOFT_LABELS),
        options.get(DrafterOptions.KL_TEMPERATURE).floatValue(),
        options.get(DrafterOptions.KL_WEIGHT).floatValue(),
        options.getOptional(DrafterOptions.GAMMA).map(Double::floatValue).orElse(usual.gamma()),
        options
            .getOptional(DrafterOptions.STREAK_ALPHA)
            .map(Double::floatValue)
            .orElse(usual.streakAlpha()),
        options.get(DrafterOptions.CAP_LAMBDA).floatValue());
  }

  private OptimizerSettings optimizer() {
    List<Double> betas = options.get(DrafterOptions.BETAS);
    return new OptimizerSettings(
        options.get(DrafterOptions.LEARNING_RATE),
        options.get(DrafterOptions.WARMUP),
        options.get(DrafterOptions.SCHEDULE),
        options.get(DrafterOptions.DECAY),
        options.get(DrafterOptions.WEIGHT_DECAY),
        options.get(DrafterOptions.CLIP),
        betas.get(0),
        betas.get(1),
        options.get(DrafterOptions.EPSILON));
  }

  /** What must not change when the run goes on from a checkpoint. */
  public RunIdentity identity() {
    return identity;
  }

  /** Compute pins what it depends on in its own files: backend, loss, shape, total steps. */
  private RunIdentity identify() {
    RunIdentity all =
        run.identity()
            .with("run.seed", run.seed())
            .with("the number of jobs", run.jobs())
            .with("pool.shards", run.shards())
            .with("target.taps", run.taps())
            .with(DrafterOptions.MASK_TOKEN.key(), run.maskToken());
    for (ConfigOption<?> option : PINNED) {
      all = all.with(option.key(), options.get(option));
    }
    return all.with(GpuProducts.OPTION.key(), products()); // the targets use them too
  }

  private static final List<ConfigOption<?>> PINNED =
      List.of(
          DrafterOptions.LAYERS,
          DrafterOptions.BLOCK_SIZE,
          DrafterOptions.SLIDING_LAYERS,
          DrafterOptions.SLIDING_WINDOW,
          DrafterOptions.ANCHORS,
          DrafterOptions.ACCUMULATION,
          DrafterOptions.USE_SOFT_LABELS);

  private static Configuration copy(ReadableConfig config) {
    return config instanceof Configuration configuration
        ? new Configuration(configuration)
        : Configuration.fromMap(config.toMap());
  }

  private void atLeast(ConfigOption<Integer> option, int least) {
    if (options.get(option) < least) {
      throw new InputException(
          "%s = %d must be at least %d.".formatted(option.key(), options.get(option), least));
    }
  }

  private void positive(ConfigOption<Duration> option) {
    if (options.get(option).toMillis() < 100) {
      throw new InputException(
          "%s = %s must be at least 100 ms.".formatted(option.key(), options.get(option)));
    }
  }
}
