package org.draftmill.operators.pool;

import static org.apache.flink.configuration.ConfigOptions.key;

import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.MemorySize;

/** What a user may set of the pool. All limits hold for each shard. */
public final class PoolOptions {

  public static final ConfigOption<Integer> MIN_READY =
      key("pool.min-ready")
          .intType()
          .defaultValue(10)
          .withDescription(
              "Microbatches that must be ready before one is released, except at the end of the"
                  + " list. A condition on the time of a release, never on the order.");

  public static final ConfigOption<Integer> WINDOW =
      key("pool.window")
          .intType()
          .noDefaultValue()
          .withDescription(
              "Among how many of the first jobs that are not yet released the next release is"
                  + " drawn; by default pool.min-ready. A wider window mixes more and waits more"
                  + " often for a job that is still being computed. At most pool.max-ready.");

  public static final ConfigOption<Integer> MAX_READY =
      key("pool.max-ready")
          .intType()
          .defaultValue(60)
          .withDescription(
              "Microbatches at which the pool is full and holds back its input. While it waits for"
                  + " a certain job it takes what else arrives, so it may hold more.");

  public static final ConfigOption<MemorySize> MAX_MEMORY =
      key("pool.max-memory")
          .memoryType()
          .defaultValue(MemorySize.parse("4gb"))
          .withDescription("Bytes at which the pool is full, see pool.max-ready.");

  public static final ConfigOption<ReleaseOrder> RELEASE =
      key("pool.release")
          .enumType(ReleaseOrder.class)
          .defaultValue(ReleaseOrder.SEEDED)
          .withDescription(
              "Order of release. seeded: a pure function of plan and run.seed, whatever the timing."
                  + " as-ready: drawn from whatever is ready; never waits for a certain job, and two"
                  + " runs differ.");

  public static final ConfigOption<Integer> SHARDS =
      key("pool.shards")
          .intType()
          .defaultValue(1)
          .withDescription(
              "Logical pools, over which the jobs are dealt. Part of what decides the result, unlike"
                  + " pool.parallelism.");

  public static final ConfigOption<Integer> PARALLELISM =
      key("pool.parallelism")
          .intType()
          .defaultValue(1)
          .withDescription("Subtasks that hold the shards; at most pool.shards.");

  private PoolOptions() {}
}
