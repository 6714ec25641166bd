package org.draftmill.compute.cpu;

import org.draftmill.compute.ops.Blocks;
import org.draftmill.compute.ops.Heads;

/**
 * The queries of one document's draft blocks and one key/value head in a fixed order: block by
 * block, in each the query heads of the group, in each the slots. Tiles cut this order anywhere, so
 * sums over queries do not depend on how wide a tile is.
 *
 * @param firstBlock the document's first block
 * @param count its blocks
 */
record BlockLanes(Blocks blocks, Heads heads, int firstBlock, int count) {
  private int group() {
    return heads.queryHeads() / heads.keyValueHeads();
  }

  private int lanesPerBlock() {
    return group() * blocks.blockSize();
  }

  int lanes() {
    return count * lanesPerBlock();
  }

  /** The document's first row of context. */
  int contextRow() {
    return blocks.contextStart()[firstBlock];
  }

  int block(int lane) {
    return firstBlock + lane / lanesPerBlock();
  }

  /** Row of q. */
  int row(int lane) {
    return block(lane) * blocks.blockSize() + slot(lane);
  }

  /** Query head. */
  int head(int lane, int keyHead) {
    return keyHead * group() + lane % lanesPerBlock() / blocks.blockSize();
  }

  private int slot(int lane) {
    return lane % blocks.blockSize();
  }

  /** End of the context that the lane sees. */
  int contextEnd(int lane) {
    return blocks.anchor()[block(lane)];
  }

  /** Begin of the context that the lane sees, at most its end. */
  int contextBegin(int lane) {
    if (blocks.window() == 0) {
      return 0;
    }
    int end = contextEnd(lane);
    return Math.min(end, Math.max(0, end + slot(lane) + 1 - blocks.window()));
  }

  /** End of the slots of its own block that the lane sees. */
  int ownEnd(int lane) {
    return blocks.window() == 0 ? blocks.blockSize() : slot(lane) + 1;
  }
}
