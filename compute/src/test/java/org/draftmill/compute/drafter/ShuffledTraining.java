package org.draftmill.compute.drafter;

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

/** A few steps of a small drafter whose microbatches are shared out and ordered by chance. */
public final class ShuffledTraining {
  static final int STEPS = 3;
  private static final int MICROBATCHES = 7;

  /** Wide enough that the parameters make several norm blocks and uneven shards. */
  static final DrafterConfig CONFIG =
      TestingDrafters.config(2, Taps.of(1, 4), 4, new Heads(4, 2, 16), 64, 190, 23);

  private ShuffledTraining() {}

  /**
   * The SHA-256 of each drafter's weights after the training.
   *
   * @param random who takes which microbatch, and when
   */
  public static List<String> weights(int size, int threads, Random random) throws Exception {
    return train(size, threads, random, new ArrayList<>());
  }

  /** Trains with {@code size} drafters that share the microbatches at random. */
  static List<String> train(int size, int threads, Random random, List<StepFigures> figures)
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
