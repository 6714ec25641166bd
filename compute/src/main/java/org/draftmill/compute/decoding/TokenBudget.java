package org.draftmill.compute.decoding;

import java.util.ArrayList;
import java.util.List;

/** The tokens of a continuation so far, and whether there may be more. */
final class TokenBudget {
  private final List<Integer> endOfText;
  private final int limit;
  private final List<Integer> tokens = new ArrayList<>();
  private boolean ended;

  TokenBudget(List<Integer> endOfText, int limit) {
    this.endOfText = endOfText;
    this.limit = limit;
  }

  /** Whether the continuation is complete. */
  boolean isSpent() {
    return ended || tokens.size() == limit;
  }

  /** Whether the text came to an end by itself. */
  boolean hasEnded() {
    return ended;
  }

  /** Takes the next token; beyond the limit it is dropped, but its being an end is noticed. */
  void add(int token) {
    if (tokens.size() < limit) {
      tokens.add(token);
    }
    ended |= endOfText.contains(token);
  }

  List<Integer> tokens() {
    return tokens;
  }
}
