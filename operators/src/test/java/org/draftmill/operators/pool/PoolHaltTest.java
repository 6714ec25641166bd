package org.draftmill.operators.pool;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.draftmill.serializers.StepMarker;
import org.junit.jupiter.api.Test;

/** Behind a savepoint at which the run stops nothing is sent, and everything is taken. */
class PoolHaltTest implements Pool.Outlet {
  private static final Demand DEMAND = new Demand(0, 0, 0);

  private final List<String> sent = new ArrayList<>();
  private final PoolSettings settings =
      TestingSettings.of(12, 2).minReady(2).maxReady(2).window(1).build();
  private final Pool pool = new Pool(List.of(new PoolShard(0, settings)), true, this);

  private void add(long position) {
    TestingChunks.of(position).forEach(chunk -> pool.add(0, chunk));
  }

  @Test
  void nothingIsSentUntilTheRunGoesOnAfterAll() {
    pool.know(Gate.CLOSED);
    add(0);
    add(1);
    assertThat(pool.mayHoldBackInput()).isTrue();

    pool.halt();

    assertThat(pool.offers()).isFalse();
    assertThat(pool.serve(DEMAND)).isFalse();
    assertThat(pool.mayHoldBackInput()).as("what is left of the input must come in").isFalse();
    TestingChunks.tombstone(2).forEach(chunk -> pool.add(0, chunk));
    assertThat(sent).isEmpty();

    pool.resume();

    assertThat(pool.serve(DEMAND)).isTrue();
    assertThat(pool.serve(DEMAND)).isTrue();
    assertThat(sent).startsWith("microbatch 0", "microbatch 1", "marker 0");
  }

  @Override
  public void held(int shard, HeldMicrobatch microbatch) {}

  @Override
  public void released(int shard, HeldMicrobatch microbatch) {}

  @Override
  public void send(int drafter, long step, HeldMicrobatch microbatch) {
    sent.add("microbatch " + microbatch.job().position());
  }

  @Override
  public void send(StepMarker marker) {
    sent.add("marker " + marker.step());
  }
}
