package org.draftmill.job.config;

import java.time.Duration;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;

/** Options of the checkpoints that a run resumes from. */
public final class CheckpointOptions {

  public static final ConfigOption<Duration> INTERVAL =
      ConfigOptions.key("checkpoint.interval")
          .durationType()
          .defaultValue(Duration.ofSeconds(60))
          .withDescription("Time between checkpoints: at most this much work is done again.");

  public static final ConfigOption<Integer> KEEP =
      ConfigOptions.key("checkpoint.keep")
          .intType()
          .defaultValue(3)
          .withDescription("How many completed checkpoints are kept.");

  public static final ConfigOption<Duration> TIMEOUT =
      ConfigOptions.key("checkpoint.timeout")
          .durationType()
          .defaultValue(Duration.ofMinutes(10))
          .withDescription(
              "A checkpoint that takes longer is given up. It waits for the job that a target is"
                  + " working on, so this must be longer than the longest job.");

  private CheckpointOptions() {}
}
