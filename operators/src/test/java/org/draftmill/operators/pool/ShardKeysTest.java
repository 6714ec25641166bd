package org.draftmill.operators.pool;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ShardKeysTest {

  @Test
  void everySubtaskHasAShardAtEveryParallelism() {
    for (int shards = 1; shards <= ShardKeys.MAX_SHARDS; shards++) {
      ShardKeys keys = new ShardKeys(shards);
      for (int parallelism = 1; parallelism <= shards; parallelism++) {
        int subtasks = parallelism;
        long fewest = shards / subtasks;
        long most = (shards - 1) / subtasks + 1;
        long[] counts = new long[subtasks];
        IntStream.range(0, shards).forEach(shard -> counts[keys.subtask(shard, subtasks)]++);
        assertThat(Arrays.stream(counts).boxed())
            .as("%d shards on %d subtasks", shards, parallelism)
            .allSatisfy(count -> assertThat(count).isBetween(fewest, most));
      }
    }
  }

  @Test
  void aChunkGoesToTheShardOfItsPosition() throws Exception {
    ShardKeys keys = new ShardKeys(3);
    assertThat(keys.getKey(TestingChunks.of(7).get(0))).isEqualTo(keys.key(1));
    assertThat(keys.shard(8)).isEqualTo(2);
  }
}
