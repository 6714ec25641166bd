package org.draftmill.compute.decoding;

import org.draftmill.compute.ops.Matrix;

/**
 * The draft model on one sequence: it keeps the keys and values of the committed context, so that
 * each position is fused and projected once. One thread; steady state allocates nothing.
 */
public interface DraftSession extends AutoCloseable {
  /** Committed positions so far: the position of the next block's anchor. */
  int contextLength();

  /**
   * Appends the target's hidden states of the next committed positions.
   *
   * @param taps {@code [positions, K·H]}, tap by tap in the columns; only read during the call
   */
  void extend(Matrix taps);

  /**
   * Runs the block {@code [anchorToken, mask × (B − 1)]} at the positions {@code contextLength() …
   * contextLength() + B − 1} and forgets it again.
   *
   * @param anchorToken the last committed token, whose hidden states are not known yet
   * @return logits {@code [B − 1, vocabulary]} of the slots 1 … B − 1, valid until the next call
   */
  Matrix draft(int anchorToken);

  /** Empties the context, for the next sequence, and keeps the memory. */
  void clear();

  @Override
  void close();
}
