package org.draftmill.compute.drafter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import org.draftmill.compute.Backends;
import org.draftmill.compute.ops.Backend;
import org.draftmill.compute.ops.Heads;
import org.draftmill.compute.ops.Workspace;
import org.draftmill.compute.target.Taps;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The bits of the weights do not depend on who took what, in which order, on how many threads. */
class DrafterExactnessTest {
  private static final int STEPS = 3;
  private static final int MICROBATCHES = 7;

  /** Wide enough that the parameters make several norm blocks and uneven shards. */
  private static final DrafterConfig CONFIG =
      TestingDrafters.config(2, Taps.of(1, 4), 4, new Heads(4, 2, 16), 64, 190, 23);

  @Test
  void anyNumberOfDraftersInAnyOrderGivesTheSameWeights() throws Exception {
    List<StepFigures> alone = new ArrayList<>();
    String expected = train(1, 1, null, alone).get(0);
    assertThat(new Shards(new ParameterLayout(CONFIG).size(), 1).blocks()).isGreaterThan(1);
    for (int size = 1; size <= 5; size++) {
      for (int trial = 0; trial < 2; trial++) {
        int threads = 1 + (2 * size + trial) % 8;
        List<StepFigures> figures = new ArrayList<>();
        List<String> hashes = train(size, threads, new Random(size * 10L + trial), figures);
        assertThat(hashes).as("%d drafters, %d threads", size, threads).containsOnly(expected);
        for (int step = 0; step < STEPS; step++) {
          assertThat(figures.get(step))
              .usingRecursiveComparison()
              .ignoringFields("reduceSeconds", "optimizerSeconds")
              .isEqualTo(alone.get(step));
        }
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8})
  void anyNumberOfThreadsInAnyOrderGivesTheSameWeights(int threads) throws Exception {
    String expected = train(1, 1, null, new ArrayList<>()).get(0);

    assertThat(train(1, threads, new Random(threads), new ArrayList<>())).containsOnly(expected);
  }

  @Test
  void drafterWithOtherWeightsIsNoticed() {
    List<Collective> group = TestingCollective.group(2);
    List<Callable<Void>> tasks = new ArrayList<>();
    for (Collective member : group) {
      float[] weights = {1, 2, 3 + member.rank()};
      tasks.add(
          () -> {
            WeightAgreement.check(member, 17, weights);
            return null;
          });
    }
    assertThatThrownBy(() -> TestingCollective.together(tasks))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("After step 17 the drafters [1] hold other weights than drafter 0");
  }

  /** Trains with {@code size} drafters that share the microbatches at random. */
  private static List<String> train(int size, int threads, Random random, List<StepFigures> figures)
      throws Exception {
    List<List<List<Integer>>> shares = new ArrayList<>(); // [step][rank] microbatches
    for (int step = 0; step < STEPS; step++) {
      List<List<Integer>> share = new ArrayList<>();
      for (int rank = 0; rank < size; rank++) {
        share.add(new ArrayList<>());
      }
      List<Integer> microbatches = new ArrayList<>();
      for (int m = 0; m < MICROBATCHES; m++) {
        microbatches.add(step * MICROBATCHES + m);
      }
      if (random != null) {
        Collections.shuffle(microbatches, random);
      }
      microbatches.forEach(m -> share.get(random == null ? 0 : random.nextInt(size)).add(m));
      shares.add(share);
    }
    List<Callable<String>> tasks = new ArrayList<>();
    for (Collective member : TestingCollective.group(size)) {
      tasks.add(() -> drafter(member, threads, shares, figures));
    }
    return TestingCollective.together(tasks);
  }

  private static String drafter(
      Collective member, int threads, List<List<List<Integer>>> shares, List<StepFigures> figures)
      throws IOException {
    float[] weights = new Initializer(5).weights(CONFIG, new ParameterLayout(CONFIG));
    try (Backend backend = Backends.open("cpu", threads);
        Workspace workspace = backend.workspace();
        DrafterTrainer trainer =
            new DrafterTrainer(
                backend,
                TestingDrafters.model(backend, workspace, CONFIG, weights),
                TestingDrafters.settings(CONFIG, 6, 60),
                weights,
                member.rank(),
                member.size())) {
      for (List<List<Integer>> share : shares) {
        for (int m : share.get(member.rank())) {
          if (m % 5 == 4) {
            trainer.tombstone();
          } else {
            trainer.accumulate(TestingMicrobatches.random(CONFIG, m, 3 + m, 1, 14 - m % 7, 20));
          }
        }
        StepFigures step = trainer.step(member);
        if (member.rank() == 0) {
          figures.add(step);
        }
      }
      return trainer.weightsSha256();
    }
  }
}
