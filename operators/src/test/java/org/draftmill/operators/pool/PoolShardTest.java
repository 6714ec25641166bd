package org.draftmill.operators.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.draftmill.operators.pool.PoolShard.Waiting;
import org.draftmill.serializers.HiddenStateChunk;
import org.draftmill.serializers.StepMarker;
import org.junit.jupiter.api.Test;

class PoolShardTest {

  private final PoolSettings settings =
      TestingSettings.of(10, 4).minReady(3).window(1).maxReady(5).build();
  private final PoolShard shard = new PoolShard(0, settings);

  @Test
  void aMicrobatchIsReadyWhenAllItsChunksAreIn() {
    List<HiddenStateChunk> chunks = TestingChunks.of(0, 3, 2, 4);
    assertThat(shard.add(chunks.get(0))).isNull();
    assertThat(shard.add(chunks.get(1))).isNull();
    assertThat(shard.readyMicrobatches()).isZero();
    assertThat(shard.bytes()).isEqualTo(chunks.get(0).sizeInBytes() + chunks.get(1).sizeInBytes());
    assertThat(shard.add(chunks.get(2)).chunks()).isEqualTo(chunks);
    assertThat(shard.readyMicrobatches()).isOne();
  }

  @Test
  void chunksOfSeveralJobsMayAlternate() {
    List<HiddenStateChunk> first = TestingChunks.of(0, 2, 1, 1);
    List<HiddenStateChunk> second = TestingChunks.of(1, 2, 1, 1);
    shard.add(first.get(0));
    shard.add(second.get(0));
    assertThat(shard.add(second.get(1))).isNotNull();
    assertThat(shard.add(first.get(1))).isNotNull();
  }

  @Test
  void itWaitsForMinReadyThenForItsJobThenForADrafter() {
    assertThat(shard.waiting()).isEqualTo(Waiting.MIN_READY);
    add(1, 2);
    assertThat(shard.waiting()).isEqualTo(Waiting.MIN_READY);
    add(3);
    assertThat(shard.waiting()).isEqualTo(Waiting.JOB);
    add(0);
    assertThat(shard.waiting()).isEqualTo(Waiting.DEMAND);
    shard.release();
    assertThat(shard.waiting()).isEqualTo(Waiting.DEMAND);
    shard.release();
    assertThat(shard.waiting()).isEqualTo(Waiting.MIN_READY);
  }

  @Test
  void stepsEndWithAMarkerOfTheirReleasesAndTheListDrains() {
    List<StepMarker> markers = new ArrayList<>();
    for (long position = 0; position < 10; position++) {
      add(position);
    }
    while (shard.step() != Poll.ENDED) {
      if (shard.waiting() == Waiting.MARKER) {
        markers.add(shard.endStep());
      } else {
        shard.release();
      }
    }
    assertThat(shard.waiting()).isEqualTo(Waiting.NOTHING);
    assertThat(markers).extracting(marker -> marker.releases().size()).containsExactly(4, 4, 2);
    assertThat(markers.get(1).releases().get(0))
        .isEqualTo(new StepMarker.Release(TestingChunks.job(4), false));
    assertThat(shard.bytes()).isZero();
  }

  @Test
  void itIsFullByMicrobatchesOrByBytes() {
    add(0, 1, 2, 3);
    assertThat(shard.isFull()).isFalse();
    add(4);
    assertThat(shard.isFull()).isTrue();

    long oneChunk = TestingChunks.of(0, 2, 1, 1).get(0).sizeInBytes();
    PoolShard small =
        new PoolShard(
            0, TestingSettings.of(10, 4).minReady(1).maxReady(9).maxMemory(oneChunk).build());
    small.add(TestingChunks.of(0, 2, 1, 1).get(0));
    assertThat(small.isFull()).isTrue();
  }

  @Test
  void readyMicrobatchesAreCountedByBucket() {
    add(0, 1, 3);
    assertThat(shard.readyOfBucket(0)).isEqualTo(2);
    assertThat(shard.readyOfBucket(1)).isOne();
    shard.release();
    assertThat(shard.readyOfBucket(0)).isOne();
  }

  @Test
  void aJobComesOnce() {
    add(0, 1, 2);
    assertThatThrownBy(() -> add(1)).hasMessageContaining("all of job 1");
    shard.release();
    assertThatThrownBy(() -> add(0)).hasMessageContaining("all of job 0");
  }

  @Test
  void chunksMustComeInOrder() {
    List<HiddenStateChunk> chunks = TestingChunks.of(0, 3, 1, 1);
    shard.add(chunks.get(0));
    assertThatThrownBy(() -> shard.add(chunks.get(2))).hasMessageContaining("After 1 of 3 chunks");
  }

  @Test
  void aPartOfAMicrobatchMustNotBeThereAtACheckpoint() {
    shard.add(TestingChunks.of(0, 3, 1, 1).get(0));
    assertThatThrownBy(shard::state).hasMessageContaining("parts of [job 0");
  }

  @Test
  void aRestoredShardGoesOn() {
    add(0, 1, 2, 3, 4);
    shard.release();
    PoolShard restored =
        new PoolShard(shard.state(), settings, List.of(held(1), held(2), held(3), held(4)));
    assertThat(restored.bytes()).isEqualTo(shard.bytes());
    for (int release = 0; release < 2; release++) {
      assertThat(restored.release().job()).isEqualTo(shard.release().job());
    }
    for (PoolShard one : List.of(restored, shard)) {
      TestingChunks.of(5).forEach(one::add);
      one.release();
    }
    assertThat(restored.endStep()).isEqualTo(shard.endStep());
  }

  private static HeldMicrobatch held(long position) {
    return new HeldMicrobatch(TestingChunks.of(position));
  }

  private void add(long... positions) {
    for (long position : positions) {
      TestingChunks.of(position).forEach(shard::add);
    }
  }
}
