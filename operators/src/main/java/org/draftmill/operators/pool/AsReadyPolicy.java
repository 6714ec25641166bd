package org.draftmill.operators.pool;

import java.util.SortedSet;
import java.util.TreeSet;

/** Draws among all that is ready, so that it never waits for a certain job. */
final class AsReadyPolicy implements ReleasePolicy {
  private final long seed;
  private final int shard;
  private final TreeSet<Long> ahead = new TreeSet<>(); // released, with a gap below
  private long contiguous; // all places below are released

  AsReadyPolicy(long seed, int shard, long released, long[] ahead) {
    this.seed = seed;
    this.shard = shard;
    for (long place : ahead) {
      this.ahead.add(place);
    }
    this.contiguous = released - ahead.length;
  }

  @Override
  public long choose(SortedSet<Long> ready) {
    if (ready.isEmpty()) {
      return NONE;
    }
    int rank = ReleasePolicy.draw(seed, shard, released(), ready.size());
    return ready.stream().skip(rank).findFirst().orElseThrow();
  }

  @Override
  public void release(long place) {
    ahead.add(place);
    while (ahead.remove(contiguous)) {
      contiguous++;
    }
  }

  @Override
  public boolean isReleased(long place) {
    return place < contiguous || ahead.contains(place);
  }

  @Override
  public long released() {
    return contiguous + ahead.size();
  }

  @Override
  public long[] places() {
    return ahead.stream().mapToLong(Long::longValue).toArray();
  }
}
