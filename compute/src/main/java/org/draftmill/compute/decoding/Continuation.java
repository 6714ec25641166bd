package org.draftmill.compute.decoding;

import java.util.List;

/**
 * What a model says after a prompt.
 *
 * @param tokens the new ones, an end-of-text token included
 * @param rounds of speculative decoding; none when the target decoded alone
 * @param seconds it took, prefill included
 */
public record Continuation(List<Integer> tokens, List<Round> rounds, double seconds) {
  public Continuation {
    tokens = List.copyOf(tokens);
    rounds = List.copyOf(rounds);
  }

  /**
   * One draft pass and its verification.
   *
   * @param accepted drafted tokens that the target agreed with, up to an end-of-text token
   * @param committed tokens that the round yields: {@code accepted} and the target's own, which is
   *     not there after an accepted end-of-text token. What the limit on new tokens cuts off the
   *     last round is counted all the same, so that the limit does not bias the mean
   */
  public record Round(int accepted, int committed) {}
}
