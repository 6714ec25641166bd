package org.draftmill.operators.pool;

import java.io.Serializable;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.ReadableConfig;

/**
 * The settings of the pool, checked.
 *
 * @param minReady microbatches of a shard that must be ready before one is released
 * @param window among how many of the first jobs not yet released a release is drawn
 * @param maxReady microbatches at which a shard is full
 * @param maxMemoryBytes bytes at which a shard is full
 * @param release how the next release is chosen
 * @param shards logical pools
 * @param parallelism subtasks
 * @param run what the pool has to know of the run
 */
public record PoolSettings(
    int minReady,
    int window,
    int maxReady,
    long maxMemoryBytes,
    ReleaseOrder release,
    int shards,
    int parallelism,
    Run run)
    implements Serializable {

  /**
   * What the pool has to know of the run.
   *
   * @param seed of the run
   * @param jobs of all epochs together
   * @param accumulation microbatches of an optimizer step, all shards together
   * @param drafters subtasks of the drafter
   * @param buckets length buckets of the plan
   * @param largestJobBytes upper bound for the chunks of one job
   */
  public record Run(
      long seed, long jobs, int accumulation, int drafters, int buckets, long largestJobBytes)
      implements Serializable {}

  public PoolSettings {
    atLeastOne(PoolOptions.MIN_READY, minReady);
    atLeastOne(PoolOptions.WINDOW, window);
    atLeastOne(PoolOptions.MAX_READY, maxReady);
    atLeastOne(PoolOptions.SHARDS, shards);
    atLeastOne(PoolOptions.PARALLELISM, parallelism);
    if (maxReady < minReady) {
      throw new IllegalConfigurationException(
          "The pool would be full at %s = %d microbatches and wait for %s = %d of them. Raise the"
                  .formatted(
                      PoolOptions.MAX_READY.key(), maxReady, PoolOptions.MIN_READY.key(), minReady)
              + " first or lower the second.");
    }
    if (window > maxReady) {
      throw new IllegalConfigurationException(
          "%s = %d is more than the pool may hold: %s is %d. Lower the first or raise the second."
              .formatted(PoolOptions.WINDOW.key(), window, PoolOptions.MAX_READY.key(), maxReady));
    }
    if (maxMemoryBytes / minReady < run.largestJobBytes()) {
      throw new IllegalConfigurationException(
          "%s = %s does not hold %s = %d microbatches of the plan's largest job, which has %s: %s are needed."
              .formatted(
                  PoolOptions.MAX_MEMORY.key(),
                  new MemorySize(maxMemoryBytes).toHumanReadableString(),
                  PoolOptions.MIN_READY.key(),
                  minReady,
                  new MemorySize(run.largestJobBytes()).toHumanReadableString(),
                  new MemorySize(minReady * run.largestJobBytes()).toHumanReadableString()));
    }
    if (parallelism > shards) {
      throw new IllegalConfigurationException(
          "%s = %d subtasks cannot share %s = %d. Lower the first or raise the second (which changes the order of training)."
              .formatted(
                  PoolOptions.PARALLELISM.key(), parallelism, PoolOptions.SHARDS.key(), shards));
    }
    if (shards > ShardKeys.MAX_SHARDS) {
      throw new IllegalConfigurationException(
          "%s = %d is more than %d."
              .formatted(PoolOptions.SHARDS.key(), shards, ShardKeys.MAX_SHARDS));
    }
  }

  /**
   * Reads and checks the pool's options.
   *
   * @throws IllegalConfigurationException if they contradict each other or the run
   */
  public static PoolSettings from(ReadableConfig config, Run run) {
    int minReady = config.get(PoolOptions.MIN_READY);
    return new PoolSettings(
        minReady,
        config.getOptional(PoolOptions.WINDOW).orElse(minReady),
        config.get(PoolOptions.MAX_READY),
        config.get(PoolOptions.MAX_MEMORY).getBytes(),
        config.get(PoolOptions.RELEASE),
        config.get(PoolOptions.SHARDS),
        config.get(PoolOptions.PARALLELISM),
        run);
  }

  ShardList list(int shard) {
    return new ShardList(shard, shards, run.jobs(), run.accumulation());
  }

  private static void atLeastOne(ConfigOption<Integer> option, int value) {
    if (value < 1) {
      throw new IllegalConfigurationException(
          "%s = %d must be at least 1.".formatted(option.key(), value));
    }
  }
}
