package org.draftmill.compute.drafter;

import org.draftmill.compute.ops.Masters;

/**
 * How the parameters are divided over drafters: whole blocks of {@value #BLOCK} elements, evenly
 * and in order. The blocks also fix the tree in which the global norm is summed, whatever the
 * number of drafters.
 *
 * @param parameters elements in all
 * @param size number of drafters
 */
record Shards(int parameters, int size) {
  static final int BLOCK = Masters.BLOCK;

  int blocks() {
    return (int) ((parameters + (long) BLOCK - 1) / BLOCK);
  }

  /** First block of each drafter, {@code [size + 1]}. */
  int[] blockBounds() {
    int[] bounds = new int[size + 1];
    for (int rank = 0; rank <= size; rank++) {
      bounds[rank] = (int) ((long) blocks() * rank / size);
    }
    return bounds;
  }

  /** First element of each drafter, {@code [size + 1]}. */
  int[] elementBounds() {
    int[] bounds = blockBounds();
    for (int rank = 0; rank <= size; rank++) {
      bounds[rank] = blockStart(bounds[rank]);
    }
    return bounds;
  }

  /** First element of a block, or the number of elements for the block after the last. */
  int blockStart(int block) {
    return (int) Math.min((long) block * BLOCK, parameters);
  }
}
