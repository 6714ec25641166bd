package org.draftmill.compute.cpu;

import org.draftmill.compute.ops.Blocks;
import org.draftmill.compute.ops.Heads;

/**
 * The queries of one document's draft blocks and one key/value head in a fixed order: block by
 * block, in each the query heads of the group, in each the slots. Tiles cut this order anywhere, so
 * sums over queries do not depend on how wide a tile is.
 */
final class BlockLanes {
  private final Blocks blocks;
  private final int firstBlock;
  private final int count;
  private final int group;
  private final int lanesPerBlock;

  /**
   * @param firstBlock the document's first block
   * @param count its blocks
   */
  BlockLanes(Blocks blocks, Heads heads, int firstBlock, int count) {
    this.blocks = blocks;
    this.firstBlock = firstBlock;
    this.count = count;
    this.group = heads.queryHeads() / heads.keyValueHeads();
    this.lanesPerBlock = group * blocks.blockSize();
  }

  int lanes() {
    return count * lanesPerBlock;
  }

  int firstBlock() {
    return firstBlock;
  }

  int endBlock() {
    return firstBlock + count;
  }

  /** The document's first row of context. */
  int contextRow() {
    return blocks.contextStart()[firstBlock];
  }

  int block(int lane) {
    return firstBlock + lane / lanesPerBlock;
  }

  /** Row of q. */
  int row(int lane) {
    return block(lane) * blocks.blockSize() + slot(lane);
  }

  /** Query head. */
  int head(int lane, int keyHead) {
    return keyHead * group + lane % lanesPerBlock / blocks.blockSize();
  }

  int slot(int lane) {
    return lane % blocks.blockSize();
  }
}
