package org.draftmill.operators.pool;

import java.util.Arrays;
import java.util.SortedSet;

/**
 * A shuffle buffer over the order of the list: release {@code k} draws among the {@code window}
 * lowest places that are not yet released (fewer at the end), whether they are ready or not. So the
 * order is a pure function of (size, seed, shard, window): timing has no part in it.
 *
 * <p>A place is released at most {@code window − 1} releases earlier than its turn in the list;
 * later without bound, but ever less likely: it stays with probability {@code 1 − 1/window} each
 * time.
 */
final class SeededPolicy implements ReleasePolicy {
  private final long seed;
  private final int shard;
  private final int window;
  private final long size;
  private final long[] candidates; // ascending, the first `count` count
  private int count;
  private long released;
  private int drawn; // index of the next release among the candidates

  SeededPolicy(long seed, int shard, int window, long size, long released, long[] candidates) {
    this.seed = seed;
    this.shard = shard;
    this.window = window;
    this.size = size;
    this.released = released;
    this.candidates = Arrays.copyOf(candidates, window);
    this.count = candidates.length;
    if (count != Math.min(window, size - released)) {
      throw new IllegalStateException(
          "After %d of %d releases there cannot be %d candidates in a window of %d."
              .formatted(released, size, count, window));
    }
    draw();
  }

  static SeededPolicy start(long seed, int shard, int window, long size) {
    long[] first = new long[(int) Math.min(window, size)];
    Arrays.setAll(first, place -> place);
    return new SeededPolicy(seed, shard, window, size, 0, first);
  }

  @Override
  public long choose(SortedSet<Long> ready) {
    return count > 0 && ready.contains(candidates[drawn]) ? candidates[drawn] : NONE;
  }

  @Override
  public void release(long place) {
    if (count == 0 || candidates[drawn] != place) {
      throw new IllegalArgumentException("Place " + place + " is not the next release.");
    }
    count--;
    System.arraycopy(candidates, drawn + 1, candidates, drawn, count - drawn);
    long entering = released + window;
    if (entering < size) {
      candidates[count++] = entering;
    }
    released++;
    draw();
  }

  @Override
  public boolean isReleased(long place) {
    return place < released + window && Arrays.binarySearch(candidates, 0, count, place) < 0;
  }

  @Override
  public long released() {
    return released;
  }

  @Override
  public long[] places() {
    return Arrays.copyOf(candidates, count);
  }

  private void draw() {
    drawn = count == 0 ? 0 : ReleasePolicy.draw(seed, shard, released, count);
  }
}
