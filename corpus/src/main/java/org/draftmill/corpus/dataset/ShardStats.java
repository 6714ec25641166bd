package org.draftmill.corpus.dataset;

import org.draftmill.corpus.TokenizedSequence;

/**
 * What a shard holds.
 *
 * @param sequences number of rows
 * @param tokens number of tokens
 * @param supervisedTokens number of tokens with a mask of one
 * @param longest tokens of its longest sequence
 */
public record ShardStats(long sequences, long tokens, long supervisedTokens, int longest) {
  public static final ShardStats NONE = new ShardStats(0, 0, 0, 0);

  ShardStats plus(TokenizedSequence sequence) {
    return plus(new ShardStats(1, sequence.length(), sequence.supervised(), sequence.length()));
  }

  ShardStats plus(ShardStats other) {
    return new ShardStats(
        sequences + other.sequences,
        tokens + other.tokens,
        supervisedTokens + other.supervisedTokens,
        Math.max(longest, other.longest));
  }
}
