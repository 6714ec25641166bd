package org.draftmill.job.train;

import java.util.List;
import java.util.Map;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.Configuration;
import org.draftmill.compute.InputException;
import org.draftmill.job.config.CheckpointOptions;
import org.draftmill.job.config.RunOptions;
import org.draftmill.job.run.RunDirectory;
import org.draftmill.operators.drafter.DrafterOptions;
import org.draftmill.operators.drafter.DrafterSettings;
import org.draftmill.operators.drafter.state.RunIdentity;
import org.draftmill.operators.jobs.JobsSettings;
import org.draftmill.operators.pool.PoolSettings;
import org.draftmill.operators.target.TargetOptions;
import org.draftmill.operators.target.TargetSettings;

/**
 * What is wrong with a run's options by themselves, whatever lies in the files that they name: a
 * value that no run can have is refused also where there is nothing left to run.
 */
public final class OptionsCheck {
  private static final int LARGEST_PORT = 65_535;

  private OptionsCheck() {}

  /**
   * @throws InputException or another exception of unusable options, naming the one that cannot be
   */
  public static void require(Configuration options, RunDirectory directory) {
    atLeast(options, TargetOptions.PARALLELISM, 1);
    atLeast(options, DrafterOptions.PARALLELISM, 1);
    atLeast(options, DrafterOptions.LAYERS, 1);
    atLeast(options, DrafterOptions.ACCUMULATION, 1);
    atLeast(options, CheckpointOptions.KEEP, 1);
    atLeast(options, RunOptions.RESTART_ATTEMPTS, 0);
    atLeast(options, TargetOptions.MAX_DEAD_LETTERS, 0);
    requirePort(options.get(RunOptions.WEB_PORT));
    requireSteps(options.getOptional(RunOptions.MAX_STEPS).orElse(1L));
    TargetSettings.check(options);
    long seed = options.get(RunOptions.SEED);
    JobsSettings jobs = JobsSettings.from(options, seed, directory.plan().toString());
    PoolSettings pool = PoolSettings.from(options, anyPool(options, jobs, seed));
    DrafterSettings.from(options, anyDrafter(options, pool, directory, seed));
    FlinkSettings.of(directory, options);
  }

  /** With the smallest job: whether the pool holds those of the plan is for the plan to say. */
  private static PoolSettings.Run anyPool(Configuration options, JobsSettings jobs, long seed) {
    return new PoolSettings.Run(
        seed,
        1,
        options.get(DrafterOptions.ACCUMULATION),
        options.get(DrafterOptions.PARALLELISM),
        jobs.planning().bounds().buckets(),
        1);
  }

  private static DrafterSettings.Run anyDrafter(
      Configuration options, PoolSettings pool, RunDirectory directory, long seed) {
    return new DrafterSettings.Run(
        directory.root().toString(),
        "",
        List.of(),
        0,
        seed,
        pool.run().jobs(),
        pool.shards(),
        options.get(CheckpointOptions.KEEP),
        new RunIdentity(Map.of()));
  }

  private static void requirePort(int port) {
    if (port < 0 || port > LARGEST_PORT) {
      throw new InputException(
          "%s = %d must be 0 to %d; 0 takes any free one."
              .formatted(RunOptions.WEB_PORT.key(), port, LARGEST_PORT));
    }
  }

  private static void requireSteps(long steps) {
    if (steps < 1) {
      throw new InputException(
          "%s = %d must be at least 1.".formatted(RunOptions.MAX_STEPS.key(), steps));
    }
  }

  private static void atLeast(Configuration options, ConfigOption<Integer> option, int least) {
    int value = options.get(option);
    if (value < least) {
      throw new InputException(
          "%s = %d must be at least %d.".formatted(option.key(), value, least));
    }
  }
}
