package org.draftmill.compute.decoding;

import java.util.List;
import org.draftmill.compute.target.TargetModel;
import org.draftmill.compute.target.TargetSession;

/** The target alone, token by token: what speculative decoding is compared with. */
public final class TargetDecoder implements AutoCloseable {
  private final TargetModel target;
  private final DecodingSettings settings;
  private final TargetSession session;

  /**
   * @param longestPrompt the most tokens of a prompt
   */
  public TargetDecoder(TargetModel target, int longestPrompt, DecodingSettings settings) {
    this.target = target;
    this.settings = settings;
    this.session = target.open(null, Math.addExact(longestPrompt, settings.maxNewTokens()));
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
    session.clear();
    int token = selection.choose(session.prefill(prompt).logits());
    budget.add(token);
    while (!budget.isSpent()) {
      token = selection.choose(session.decode(token).logits());
      budget.add(token);
    }
    return new Continuation(budget.tokens(), List.of(), (System.nanoTime() - start) / 1e9);
  }

  @Override
  public void close() {
    session.close();
  }
}
