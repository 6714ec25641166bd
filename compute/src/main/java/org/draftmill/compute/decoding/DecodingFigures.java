package org.draftmill.compute.decoding;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * How well a draft model serves its target on a set of prompts.
 *
 * @param prompts how many
 * @param newTokens of all continuations of speculative decoding
 * @param rounds draft passes
 * @param tauPooled acceptance length: tokens that a round yields, mean over all rounds; 1 without
 *     any round
 * @param tauMeanOfMeans the same per prompt, then the mean over the prompts that had rounds
 * @param acceptedBySlot {@code [B − 1]}: in which share of the rounds the token of slot 1, 2, … was
 *     accepted
 * @param greedyEqual whether every continuation is the target's own, token for token; empty when
 *     tokens were drawn at random
 * @param targetTokensPerSecond of the target alone, prefill included
 * @param speculativeTokensPerSecond of speculative decoding, prefill included
 */
public record DecodingFigures(
    int prompts,
    long newTokens,
    long rounds,
    double tauPooled,
    double tauMeanOfMeans,
    List<Double> acceptedBySlot,
    Optional<Boolean> greedyEqual,
    double targetTokensPerSecond,
    double speculativeTokensPerSecond) {

  public DecodingFigures {
    acceptedBySlot = List.copyOf(acceptedBySlot);
  }

  /**
   * @param own the target's continuation of each prompt
   * @param speculative that of speculative decoding, in the same order
   */
  static DecodingFigures of(
      List<Continuation> own, List<Continuation> speculative, int slots, boolean greedy) {
    long rounds = 0;
    long committed = 0;
    double sumOfMeans = 0;
    int promptsWithRounds = 0;
    long[] accepted = new long[slots];
    boolean equal = true;
    for (int i = 0; i < speculative.size(); i++) {
      Continuation continuation = speculative.get(i);
      equal &= continuation.tokens().equals(own.get(i).tokens());
      long ofPrompt = 0;
      for (Continuation.Round round : continuation.rounds()) {
        ofPrompt += round.committed();
        for (int slot = 0; slot < round.accepted(); slot++) {
          accepted[slot]++;
        }
      }
      int roundsOfPrompt = continuation.rounds().size();
      if (roundsOfPrompt > 0) {
        sumOfMeans += (double) ofPrompt / roundsOfPrompt;
        promptsWithRounds++;
      }
      rounds += roundsOfPrompt;
      committed += ofPrompt;
    }
    List<Double> acceptedBySlot = new ArrayList<>();
    for (long count : accepted) {
      acceptedBySlot.add(rounds == 0 ? 0 : (double) count / rounds);
    }
    return new DecodingFigures(
        speculative.size(),
        tokens(speculative),
        rounds,
        rounds == 0 ? 1 : (double) committed / rounds,
        promptsWithRounds == 0 ? 1 : sumOfMeans / promptsWithRounds,
        acceptedBySlot,
        greedy ? Optional.of(equal) : Optional.empty(),
        tokensPerSecond(own),
        tokensPerSecond(speculative));
  }

  private static long tokens(List<Continuation> continuations) {
    return continuations.stream().mapToLong(continuation -> continuation.tokens().size()).sum();
  }

  private static double tokensPerSecond(List<Continuation> continuations) {
    double seconds = continuations.stream().mapToDouble(Continuation::seconds).sum();
    return seconds == 0 ? 0 : tokens(continuations) / seconds;
  }

  /** How many times faster than the target alone. */
  public double speedup() {
    return targetTokensPerSecond == 0 ? 0 : speculativeTokensPerSecond / targetTokensPerSecond;
  }

  /** The figures under the names that {@code evaluate --json} writes; a missing one is null. */
  public Map<String, Object> toMap() {
    Map<String, Object> figures = new LinkedHashMap<>();
    figures.put("prompts", prompts);
    figures.put("new_tokens", newTokens);
    figures.put("rounds", rounds);
    figures.put("tau_pooled", tauPooled);
    figures.put("tau_mean_of_means", tauMeanOfMeans);
    figures.put("accepted_by_slot", acceptedBySlot);
    figures.put("greedy_equal", greedyEqual.orElse(null));
    figures.put("speedup", speedup());
    figures.put("target_tokens_per_second", targetTokensPerSecond);
    figures.put("speculative_tokens_per_second", speculativeTokensPerSecond);
    return figures;
  }
}
