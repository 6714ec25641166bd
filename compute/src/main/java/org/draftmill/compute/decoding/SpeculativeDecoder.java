package org.draftmill.compute.decoding;

import java.util.ArrayList;
import java.util.List;
import org.draftmill.compute.decoding.Continuation.Round;
import org.draftmill.compute.decoding.Selection.Verdict;
import org.draftmill.compute.target.TargetModel;
import org.draftmill.compute.target.TargetSession;

/**
 * Speculative decoding: in each round the draft model proposes {@code B − 1} tokens after the last
 * committed one, the target scores all {@code B} in one pass, the agreeing prefix and the target's
 * own next token are committed, and the target's hidden states of the committed positions become
 * the draft model's context. Greedy output is the target's own, token for token; sampled output has
 * the target's own distribution.
 */
public final class SpeculativeDecoder implements AutoCloseable {
  private final TargetModel target;
  private final DecodingSettings settings;
  private final TargetSession session;
  private final DraftSession draft;
  private final int[] block; // [B]: the last committed token, then the proposals

  /**
   * @param longestPrompt the most tokens of a prompt
   */
  public SpeculativeDecoder(
      TargetModel target, DraftModel draftModel, int longestPrompt, DecodingSettings settings) {
    this.target = target;
    this.settings = settings;
    this.block = new int[draftModel.blockSize()];
    int committed = Math.addExact(longestPrompt, settings.maxNewTokens());
    int maxLength = Math.addExact(committed, block.length);
    this.session = target.open(draftModel.taps(), maxLength);
    try {
      this.draft = draftModel.open(maxLength);
    } catch (RuntimeException e) {
      session.close();
      throw e;
    }
  }

  /**
   * Continues a prompt up to an end-of-text token or the limit.
   *
   * @param index of the prompt: draws depend on it and the seed
   */
  public Continuation decode(int index, int[] prompt) {
    long start = System.nanoTime();
    Selection selection = Selection.of(settings, index, target.ops());
    TokenBudget budget = new TokenBudget(target.config().endOfText(), settings.maxNewTokens());
    List<Round> rounds = new ArrayList<>();
    session.clear();
    draft.clear();
    TargetSession.Scores scores = session.prefill(prompt);
    draft.extend(scores.taps());
    block[0] = selection.choose(scores.logits());
    budget.add(block[0]);
    while (!budget.isSpent()) {
      rounds.add(round(selection, budget));
    }
    return new Continuation(budget.tokens(), rounds, (System.nanoTime() - start) / 1e9);
  }

  private Round round(Selection selection, TokenBudget budget) {
    int committedBefore = session.length();
    int[] proposed = selection.propose(draft.draft(block[0]));
    System.arraycopy(proposed, 0, block, 1, proposed.length);
    TargetSession.Scores scores = session.decode(block);
    Verdict verdict = selection.judge(proposed, scores.logits());

    int known = 1 + verdict.accepted();
    session.truncate(committedBefore + known);
    draft.extend(scores.taps().rows(0, known));
    block[0] = verdict.next();

    int accepted = 0;
    while (accepted < verdict.accepted() && !budget.hasEnded()) {
      budget.add(proposed[accepted++]);
    }
    if (budget.hasEnded()) {
      return new Round(accepted, accepted);
    }
    budget.add(verdict.next());
    return new Round(accepted, accepted + 1);
  }

  @Override
  public void close() {
    draft.close();
    session.close();
  }
}
