package org.draftmill.compute.decoding;

import org.draftmill.compute.target.Taps;

/**
 * A trained draft model as decoding sees it: it proposes the next {@code blockSize − 1} tokens from
 * the target's hidden states of everything before. Works on the same backend as the target.
 */
public interface DraftModel {
  /** B: the anchor and B − 1 drafted tokens. */
  int blockSize();

  /** Which hidden states of the target it reads. */
  Taps taps();

  /**
   * Starts on an empty sequence.
   *
   * @param maxLength context rows it must be able to hold
   */
  DraftSession open(int maxLength);
}
