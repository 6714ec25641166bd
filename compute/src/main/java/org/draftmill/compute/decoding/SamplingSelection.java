package org.draftmill.compute.decoding;

import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.draftmill.compute.ops.Matrix;

/**
 * Speculative sampling without loss: the tokens come out with exactly the probabilities that the
 * target alone would draw them with. A token {@code x} that was proposed with probability {@code
 * q(x)} and that the target wants with {@code p(x)} is accepted with probability {@code min(1,
 * p(x)/q(x))}; the first one refused is replaced by a draw from {@code max(0, p − q)}, scaled.
 */
final class SamplingSelection implements Selection {
  private final double temperature;
  private final SplittableRandom random;
  private final Distribution wanted = new Distribution();
  private Distribution[] proposals = new Distribution[0];

  SamplingSelection(double temperature, long seed, int sequence) {
    this.temperature = temperature;
    // The generator mixes its seed well; the odd factor keeps the sequences' seeds apart.
    this.random = new SplittableRandom(seed + 0x9E3779B97F4A7C15L * (sequence + 1L)).split();
  }

  @Override
  public int choose(Matrix logits) {
    wanted.fill(logits, temperature);
    return wanted.draw(random);
  }

  @Override
  public int[] propose(Matrix draftLogits) {
    int slots = draftLogits.rows();
    if (proposals.length != slots) {
      proposals =
          IntStream.range(0, slots).mapToObj(i -> new Distribution()).toArray(Distribution[]::new);
    }
    int[] proposed = new int[slots];
    for (int slot = 0; slot < slots; slot++) {
      proposals[slot].fill(draftLogits.rows(slot, slot + 1), temperature);
      proposed[slot] = proposals[slot].draw(random);
    }
    return proposed;
  }

  @Override
  public Verdict judge(int[] proposed, Matrix targetLogits) {
    for (int slot = 0; slot < proposed.length; slot++) {
      wanted.fill(targetLogits.rows(slot, slot + 1), temperature);
      double ratio = wanted.of(proposed[slot]) / proposals[slot].of(proposed[slot]);
      if (random.nextDouble() >= ratio) {
        return new Verdict(slot, wanted.drawExcessOver(proposals[slot], random));
      }
    }
    wanted.fill(targetLogits.rows(proposed.length, proposed.length + 1), temperature);
    return new Verdict(proposed.length, wanted.draw(random));
  }
}
