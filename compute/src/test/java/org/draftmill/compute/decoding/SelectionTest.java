package org.draftmill.compute.decoding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.draftmill.compute.decoding.Selection.Verdict;
import org.draftmill.compute.ops.Backend;
import org.draftmill.compute.ops.Matrix;
import org.draftmill.compute.reference.ReferenceBackend;
import org.junit.jupiter.api.Test;

class SelectionTest {
  private static final int DRAWS = 200_000;

  private final Backend backend = new ReferenceBackend();

  @Test
  void greedyAcceptsTheAgreeingPrefix() {
    Selection greedy = Selection.of(DecodingSettings.greedy(1), 0, backend.ops());
    Matrix target = oneHot(3, 1, 4, 2);
    assertThat(greedy.choose(oneHot(4))).isEqualTo(4);
    assertThat(greedy.propose(oneHot(3, 1))).containsExactly(3, 1);
    assertThat(greedy.judge(new int[] {3, 1, 4}, target)).isEqualTo(new Verdict(3, 2));
    assertThat(greedy.judge(new int[] {3, 1, 0}, target)).isEqualTo(new Verdict(2, 4));
    assertThat(greedy.judge(new int[] {0, 1, 4}, target)).isEqualTo(new Verdict(0, 3));
  }

  @Test
  void sampledTokensHaveTheTargetsDistribution() {
    double[] draft = {0.5, 0.2, 0.1, 0.2, 0.0};
    double[] target = {0.2, 0.3, 0.1, 0.0, 0.4};
    double[] after = {0.1, 0.1, 0.1, 0.1, 0.6};
    Matrix draftLogits = logits(draft, draft);
    Matrix targetLogits = logits(target, target, after);
    Selection selection = new SamplingSelection(1, 5, 0);
    int[] first = new int[5];
    int[] second = new int[5];
    int[] third = new int[5];
    long accepted = 0;
    for (int i = 0; i < DRAWS; i++) {
      int[] proposed = selection.propose(draftLogits);
      Verdict verdict = selection.judge(proposed, targetLogits);
      first[verdict.accepted() > 0 ? proposed[0] : verdict.next()]++;
      if (verdict.accepted() > 0) {
        accepted++;
        second[verdict.accepted() > 1 ? proposed[1] : verdict.next()]++;
      }
      if (verdict.accepted() == 2) {
        third[verdict.next()]++;
      }
    }
    assertDistribution(first, target);
    assertDistribution(second, target);
    assertDistribution(third, after);
    double overlap = 0.2 + 0.2 + 0.1; // Σ min(p, q)
    assertThat((double) accepted / DRAWS).isCloseTo(overlap, within(0.005));
  }

  @Test
  void proposalsOfTheTargetsOwnDistributionAreNeverRefused() {
    double[] same = {0.3, 0.3, 0.1, 0.1, 0.2};
    Selection selection = new SamplingSelection(0.7, 5, 0);
    for (int i = 0; i < 1000; i++) {
      int[] proposed = selection.propose(logits(same));
      assertThat(selection.judge(proposed, logits(same, same)).accepted()).isEqualTo(1);
    }
  }

  @Test
  void theTemperatureDividesTheLogits() {
    Selection selection = new SamplingSelection(0.5, 5, 0);
    int[] counts = new int[2];
    for (int i = 0; i < DRAWS; i++) {
      counts[selection.choose(logits(new double[] {0.25, 0.75}))]++;
    }
    assertDistribution(counts, new double[] {0.1, 0.9});
  }

  @Test
  void drawsDependOnSeedAndSequenceAlone() {
    assertThat(draws(1, 0)).isEqualTo(draws(1, 0));
    assertThat(draws(1, 0)).isNotEqualTo(draws(2, 0)).isNotEqualTo(draws(1, 1));
  }

  private int[] draws(long seed, int sequence) {
    Selection selection = new SamplingSelection(1, seed, sequence);
    int[] draws = new int[50];
    for (int i = 0; i < draws.length; i++) {
      draws[i] = selection.choose(logits(new double[] {0.2, 0.2, 0.2, 0.4}));
    }
    return draws;
  }

  private static void assertDistribution(int[] counts, double[] expected) {
    long sum = 0;
    for (int count : counts) {
      sum += count;
    }
    for (int i = 0; i < counts.length; i++) {
      double deviation = Math.sqrt(expected[i] * (1 - expected[i]) / sum);
      assertThat((double) counts[i] / sum)
          .as("token %d", i)
          .isCloseTo(expected[i], within(4 * deviation));
    }
  }

  private Matrix logits(double[]... rows) {
    int columns = rows[0].length;
    float[] values = new float[rows.length * columns];
    for (int i = 0; i < values.length; i++) {
      values[i] = (float) Math.log(rows[i / columns][i % columns]);
    }
    return matrix(rows.length, columns, values);
  }

  private Matrix oneHot(int... tokens) {
    float[] values = new float[tokens.length * 5];
    for (int row = 0; row < tokens.length; row++) {
      values[row * 5 + tokens[row]] = 1;
    }
    return matrix(tokens.length, 5, values);
  }

  private Matrix matrix(int rows, int columns, float[] values) {
    return backend.workspace().matrix(rows, columns, values);
  }
}
