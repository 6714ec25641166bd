package org.draftmill.compute.cuda;

/**
 * How a kernel is spread out: blocks in three dimensions, threads of a block in one, and dynamic
 * shared memory of a block in bytes.
 */
record Grid(int x, int y, int z, int threads, int shared) {
  static final int WARP = 32;

  /** Threads of a block at most. */
  static final int MOST_THREADS = 1024;

  private static final int USUAL_THREADS = 256;

  /** One thread for each of {@code n} values; the last block may have some left over. */
  static Grid over(long n) {
    return of(Math.toIntExact((n + USUAL_THREADS - 1) / USUAL_THREADS), USUAL_THREADS);
  }

  /** One thread for each four of {@code n} values. */
  static Grid overQuads(long n) {
    return over((n + 3) / 4);
  }

  /** {@code blocks} blocks of {@code threads} threads. */
  static Grid of(int blocks, int threads) {
    return new Grid(blocks, 1, 1, threads, 0);
  }

  static Grid of(int x, int y, int threads) {
    return new Grid(x, y, 1, threads, 0);
  }

  Grid withShared(int bytes) {
    return new Grid(x, y, z, threads, bytes);
  }

  boolean isEmpty() {
    return x == 0 || y == 0 || z == 0;
  }

  @Override
  public String toString() {
    return "%d x %d x %d blocks of %d threads, %d bytes of shared memory"
        .formatted(x, y, z, threads, shared);
  }
}
