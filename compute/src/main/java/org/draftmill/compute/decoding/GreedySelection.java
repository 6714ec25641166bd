package org.draftmill.compute.decoding;

import org.draftmill.compute.ops.Matrix;
import org.draftmill.compute.ops.Ops;

/** The likeliest token, the lowest id on ties; a proposal stands if the target says the same. */
record GreedySelection(Ops ops) implements Selection {
  @Override
  public int choose(Matrix logits) {
    return ops.argmaxRows(logits)[0];
  }

  @Override
  public int[] propose(Matrix draftLogits) {
    return ops.argmaxRows(draftLogits);
  }

  @Override
  public Verdict judge(int[] proposed, Matrix targetLogits) {
    int[] wanted = ops.argmaxRows(targetLogits);
    int accepted = 0;
    while (accepted < proposed.length && proposed[accepted] == wanted[accepted]) {
      accepted++;
    }
    return new Verdict(accepted, wanted[accepted]);
  }
}
