package org.draftmill.operators.pool;

/** Builds settings of small pools. */
final class TestingSettings {
  private final long jobs;
  private final int accumulation;
  private long seed = 42;
  private int minReady = 2;
  private Integer window;
  private int maxReady = 10;
  private long maxMemory = Long.MAX_VALUE;
  private ReleaseOrder release = ReleaseOrder.SEEDED;
  private int shards = 1;
  private int parallelism = 1;
  private int drafters = 1;

  private TestingSettings(long jobs, int accumulation) {
    this.jobs = jobs;
    this.accumulation = accumulation;
  }

  static TestingSettings of(long jobs, int accumulation) {
    return new TestingSettings(jobs, accumulation);
  }

  TestingSettings seed(long newSeed) {
    seed = newSeed;
    return this;
  }

  TestingSettings minReady(int microbatches) {
    minReady = microbatches;
    return this;
  }

  TestingSettings window(int microbatches) {
    window = microbatches;
    return this;
  }

  TestingSettings maxReady(int microbatches) {
    maxReady = microbatches;
    return this;
  }

  TestingSettings maxMemory(long bytes) {
    maxMemory = bytes;
    return this;
  }

  TestingSettings release(ReleaseOrder order) {
    release = order;
    return this;
  }

  TestingSettings shards(int newShards, int newParallelism) {
    shards = newShards;
    parallelism = newParallelism;
    return this;
  }

  TestingSettings drafters(int subtasks) {
    drafters = subtasks;
    return this;
  }

  PoolSettings build() {
    return new PoolSettings(
        minReady,
        window == null ? minReady : window,
        maxReady,
        maxMemory,
        release,
        shards,
        parallelism,
        new PoolSettings.Run(seed, jobs, accumulation, drafters, TestingChunks.BUCKETS, 1));
  }
}
