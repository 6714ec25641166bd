package org.draftmill.compute.ops;

/**
 * Where the draft blocks of a microbatch lie. Block {@code b} has {@code blockSize} consecutive
 * query rows {@code b·blockSize …}; it belongs to the document whose context rows are {@code
 * contextStart[b] … contextStart[b] + anchor[b] − 1}: positions strictly before its anchor. Blocks
 * are grouped by document, in order.
 *
 * @param contextStart {@code [blocks]} first context row of the block's document
 * @param anchor {@code [blocks]} position of the anchor within its document
 * @param window a sliding layer's window: context position {@code p} is seen by slot {@code i} only
 *     if {@code p > anchor + i − window}, and slot {@code i} sees slots {@code ≤ i} of its own
 *     block; 0 for a full layer: all context before the anchor, own block in both directions
 */
public record Blocks(int blockSize, int[] contextStart, int[] anchor, int window) {
  public int count() {
    return anchor.length;
  }

  public int rows() {
    return anchor.length * blockSize;
  }
}
