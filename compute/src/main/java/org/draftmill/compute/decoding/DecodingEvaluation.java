package org.draftmill.compute.decoding;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntConsumer;
import org.draftmill.compute.InputException;
import org.draftmill.compute.target.TargetModel;

/** Continues prompts with the target alone and with a draft model, and compares the two. */
public final class DecodingEvaluation {
  private final TargetModel target;
  private final DraftModel draft;
  private final DecodingSettings settings;

  public DecodingEvaluation(TargetModel target, DraftModel draft, DecodingSettings settings) {
    this.target = target;
    this.draft = draft;
    // The caches are made for a whole continuation, which is no longer than what the target reads.
    this.settings =
        new DecodingSettings(
            Math.min(settings.maxNewTokens(), target.config().maxPositions()),
            settings.temperature(),
            settings.seed());
  }

  /**
   * Decodes every prompt both ways, one right after the other, so that both meet the machine in the
   * same state. The first prompt runs once more before, unmeasured, to warm up.
   *
   * @param prompts token ids, each at least one and fewer than the target can read
   * @param done is told how many prompts are finished
   */
  public DecodingFigures run(List<int[]> prompts, IntConsumer done) {
    int longest = longest(prompts);
    List<Continuation> own = new ArrayList<>();
    List<Continuation> speculative = new ArrayList<>();
    try (TargetDecoder alone = new TargetDecoder(target, longest, settings);
        SpeculativeDecoder together = new SpeculativeDecoder(target, draft, longest, settings)) {
      alone.decode(0, prompts.get(0));
      together.decode(0, prompts.get(0));
      for (int i = 0; i < prompts.size(); i++) {
        own.add(alone.decode(i, prompts.get(i)));
        speculative.add(together.decode(i, prompts.get(i)));
        done.accept(i + 1);
      }
    }
    return DecodingFigures.of(own, speculative, draft.blockSize() - 1, settings.isGreedy());
  }

  private int longest(List<int[]> prompts) {
    int most = target.config().maxPositions();
    int longest = 0;
    for (int i = 0; i < prompts.size(); i++) {
      if (prompts.get(i).length == 0) {
        throw new InputException("Prompt " + (i + 1) + " is empty; nothing can continue it.");
      }
      if (prompts.get(i).length >= most) {
        throw new InputException(
            "Prompt %d has %d tokens, but the target reads %d at most (max_position_embeddings): leave it out."
                .formatted(i + 1, prompts.get(i).length, most));
      }
      longest = Math.max(longest, prompts.get(i).length);
    }
    if (longest == 0) {
      throw new InputException("There is no prompt to decode.");
    }
    return longest;
  }
}
