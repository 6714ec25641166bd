package org.draftmill.job.train;

import java.time.Duration;
import java.util.Map;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ExecutionOptions;
import org.apache.flink.configuration.ExternalizedCheckpointRetention;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.StateBackendOptions;
import org.draftmill.compute.InputException;
import org.draftmill.job.config.CheckpointOptions;
import org.draftmill.job.config.KnownOptions;
import org.draftmill.job.config.RunOptions;
import org.draftmill.job.run.FlinkAddress;
import org.draftmill.job.run.OtherJobs;
import org.draftmill.job.run.RunDirectory;

/** What a training job asks of Flink. */
public final class FlinkSettings {
  /** Flink takes no shorter one between checkpoints. */
  private static final Duration SHORTEST_PERIOD = Duration.ofMillis(10);

  private FlinkSettings() {}

  /** Flink's options for a run: those that the stages rely on, then the user's {@code flink.*}. */
  public static Configuration of(ResolvedRun run) {
    return of(run.directory(), run.options());
  }

  /** The same of a run that is not resolved yet. */
  static Configuration of(RunDirectory directory, Configuration options) {
    Configuration flink = new Configuration();
    flink.set(PipelineOptions.NAME, directory.jobName());
    // Records are immutable: nothing is copied between chained operators.
    flink.set(PipelineOptions.OBJECT_REUSE, true);
    // A record is sent at once: drafters wait for it.
    flink.set(ExecutionOptions.BUFFER_TIMEOUT, Duration.ZERO);
    flink.set(StateBackendOptions.STATE_BACKEND, "hashmap");
    checkpoints(directory, options, flink);
    restarts(options, flink);
    for (String key : options.keySet()) {
      if (key.startsWith(KnownOptions.FLINK_PREFIX)) {
        flink.setString(
            key.substring(KnownOptions.FLINK_PREFIX.length()), options.getString(key, ""));
      }
    }
    flink.set(
        PipelineOptions.GLOBAL_JOB_PARAMETERS,
        OtherJobs.parameters(
            directory, flink.getOptional(PipelineOptions.GLOBAL_JOB_PARAMETERS).orElse(Map.of())));
    requireAligned(flink);
    return flink;
  }

  private static void checkpoints(
      RunDirectory directory, Configuration options, Configuration flink) {
    flink.set(
        CheckpointingOptions.CHECKPOINTING_INTERVAL, period(options, CheckpointOptions.INTERVAL));
    // However long one takes, half of the time is without. Nor is the first one tried earlier: it
    // would fail while tasks still load their models.
    flink.set(
        CheckpointingOptions.MIN_PAUSE_BETWEEN_CHECKPOINTS,
        period(options, CheckpointOptions.INTERVAL).dividedBy(2));
    flink.set(
        CheckpointingOptions.CHECKPOINTING_TIMEOUT, period(options, CheckpointOptions.TIMEOUT));
    flink.set(CheckpointingOptions.MAX_RETAINED_CHECKPOINTS, options.get(CheckpointOptions.KEEP));
    flink.set(CheckpointingOptions.CHECKPOINT_STORAGE, "filesystem");
    flink.set(CheckpointingOptions.CHECKPOINTS_DIRECTORY, FlinkAddress.of(directory.checkpoints()));
    flink.set(CheckpointingOptions.SAVEPOINT_DIRECTORY, FlinkAddress.of(directory.checkpoints()));
    flink.set(
        CheckpointingOptions.EXTERNALIZED_CHECKPOINT_RETENTION,
        ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION);
    flink.set(CheckpointingOptions.ENABLE_UNALIGNED, false);
    // A checkpoint that fails costs nothing but time; the next one is tried.
    flink.set(CheckpointingOptions.TOLERABLE_FAILURE_NUMBER, Integer.MAX_VALUE);
  }

  private static Duration period(Configuration options, ConfigOption<Duration> option) {
    Duration period = options.get(option);
    if (period.compareTo(SHORTEST_PERIOD) < 0) {
      throw new InputException(
          "%s = %d ms must be at least %d ms."
              .formatted(option.key(), period.toMillis(), SHORTEST_PERIOD.toMillis()));
    }
    return period;
  }

  /**
   * A cluster hands out the slots of a TaskManager that died until its heartbeats have been missed,
   * some twenty seconds: restarts in even steps would be used up by then.
   */
  private static void restarts(Configuration options, Configuration flink) {
    int attempts = options.get(RunOptions.RESTART_ATTEMPTS);
    if (attempts == 0) {
      flink.set(RestartStrategyOptions.RESTART_STRATEGY, "none");
      return;
    }
    // Flink takes no shorter one.
    Duration delay =
        Duration.ofMillis(Math.max(1, options.get(RunOptions.RESTART_DELAY).toMillis()));
    flink.set(RestartStrategyOptions.RESTART_STRATEGY, "exponential-delay");
    flink.set(RestartStrategyOptions.RESTART_STRATEGY_EXPONENTIAL_DELAY_ATTEMPTS, attempts);
    flink.set(RestartStrategyOptions.RESTART_STRATEGY_EXPONENTIAL_DELAY_INITIAL_BACKOFF, delay);
    flink.set(
        RestartStrategyOptions.RESTART_STRATEGY_EXPONENTIAL_DELAY_MAX_BACKOFF,
        delay.multipliedBy(10));
    flink.set(RestartStrategyOptions.RESTART_STRATEGY_EXPONENTIAL_DELAY_BACKOFF_MULTIPLIER, 2.0);
    flink.set(RestartStrategyOptions.RESTART_STRATEGY_EXPONENTIAL_DELAY_JITTER_FACTOR, 0.0);
    flink.set(
        RestartStrategyOptions.RESTART_STRATEGY_EXPONENTIAL_DELAY_RESET_BACKOFF_THRESHOLD,
        Duration.ofHours(1));
  }

  /**
   * @throws InputException if barriers may overtake records
   */
  public static void requireAligned(ReadableConfig flink) {
    if (flink.get(CheckpointingOptions.ENABLE_UNALIGNED)) {
      throw new InputException(
          CheckpointingOptions.ENABLE_UNALIGNED.key()
              + " is true, but the end of an optimizer step is marked in the stream: a barrier that"
              + " overtakes the mark would leave the drafters at different steps. Set it to false.");
    }
  }
}
