package org.draftmill.compute.ops;

/**
 * A device and its tensor operations. Implementations: {@code reference} (readable loops, the
 * judge), {@code cpu} (Vector API, threads) and {@code cuda} (one GPU); each passes the same
 * contract test. A backend may be used by one thread at a time; several backends may live in one
 * process.
 */
public interface Backend extends AutoCloseable {
  /** {@code reference}, {@code cpu}, …. */
  String name();

  /**
   * What the bits of results depend on beside their operands, as a text: part of what a run is
   * pinned to.
   */
  default String arithmetic() {
    return name();
  }

  Ops ops();

  /** Most values of a head that the operations of attention take. */
  default int largestHead() {
    return Integer.MAX_VALUE;
  }

  /** New, empty memory. */
  Workspace workspace();

  /** New sums, all zero. */
  ExactSums exactSums(int size);

  /**
   * New masters, both moments zero.
   *
   * @param weights {@code [size]}, taken over
   * @param from first element of the shard, a multiple of {@link Masters#BLOCK}
   * @param to element after the last one of the shard: another multiple, or the size
   */
  Masters masters(float[] weights, int from, int to);

  /** A new clock for work of this backend. */
  DeviceClock clock();

  /**
   * Seconds that {@link Workspace#encode} has taken of the device so far, which may be computing
   * meanwhile. Never waits; any thread may ask.
   */
  double encodingSeconds();

  /**
   * Bytes that operations keep for their next call, beside all workspaces; tiles of a fixed small
   * size are not counted.
   */
  long bytesHeld();

  @Override
  void close();
}
