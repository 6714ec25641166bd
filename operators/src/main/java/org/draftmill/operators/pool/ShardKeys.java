package org.draftmill.operators.pool;

import org.apache.flink.api.java.functions.KeySelector;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.draftmill.serializers.HiddenStateChunk;

/**
 * The keys of the shards: chosen such that their key groups lie evenly over all there are, so every
 * subtask of any parallelism up to the number of shards has a shard, and the same key stands for a
 * shard at every parallelism.
 */
public final class ShardKeys implements KeySelector<HiddenStateChunk, Integer> {

  /** Key groups of the pool: its operator must be given this maximum parallelism. */
  public static final int MAX_PARALLELISM = 4096;

  /** Shards that there may be. */
  public static final int MAX_SHARDS = 64;

  private final int[] keys; // [shards]

  public ShardKeys(int shards) {
    keys = new int[shards];
    for (int shard = 0; shard < shards; shard++) {
      keys[shard] = keyInGroup((2 * shard + 1) * MAX_PARALLELISM / (2 * shards));
    }
  }

  private static int keyInGroup(int group) {
    int key = 0;
    while (KeyGroupRangeAssignment.assignToKeyGroup(key, MAX_PARALLELISM) != group) {
      key++;
    }
    return key;
  }

  /** Key of a shard. */
  public int key(int shard) {
    return keys[shard];
  }

  /** Index of the subtask that has a shard. */
  int subtask(int shard, int parallelism) {
    return KeyGroupRangeAssignment.assignKeyToParallelOperator(
        keys[shard], MAX_PARALLELISM, parallelism);
  }

  /** Shard of a job. */
  int shard(long position) {
    return (int) (position % keys.length);
  }

  @Override
  public Integer getKey(HiddenStateChunk chunk) {
    return keys[shard(chunk.position())];
  }
}
