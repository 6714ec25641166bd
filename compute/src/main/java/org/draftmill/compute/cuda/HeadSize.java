package org.draftmill.compute.cuda;

import org.draftmill.compute.ops.Heads;

/** Sizes that the attention kernels share. */
final class HeadSize {
  static final int LARGEST = 128;

  /** Sizes of a head that there are kernels for; others are padded with zeros. */
  private static final int[] PADDED = {32, 64, LARGEST};

  /** Keys, and values, that lie in shared memory at a time. */
  private static final int KEYS = 64;

  private HeadSize() {}

  /** Values of a head as the kernels take it. */
  static int padded(Heads heads) {
    for (int size : PADDED) {
      if (heads.headDim() <= size) {
        return size;
      }
    }
    throw new IllegalArgumentException(
        "the cuda backend's attention takes heads of at most "
            + LARGEST
            + " values, these have "
            + heads.headDim());
  }

  /** Query heads of a key/value head. */
  static int group(Heads heads) {
    return heads.queryHeads() / heads.keyValueHeads();
  }

  /** What scores are multiplied with. */
  static float scale(Heads heads) {
    return (float) (1 / Math.sqrt(heads.headDim()));
  }

  /** Bytes of a tile of keys and one of values. */
  static int keysAndValues(int padded) {
    return 2 * KEYS * padded * Short.BYTES;
  }
}
