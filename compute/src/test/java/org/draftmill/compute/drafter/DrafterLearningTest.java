package org.draftmill.compute.drafter;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Random;
import org.draftmill.compute.Backends;
import org.draftmill.compute.DType;
import org.draftmill.compute.ops.Backend;
import org.draftmill.compute.ops.Heads;
import org.draftmill.compute.ops.Workspace;
import org.draftmill.compute.target.Taps;
import org.junit.jupiter.api.Test;

/** A drafter learns a language in which each token tells the next. */
class DrafterLearningTest {
  private static final int VOCABULARY = 14;
  private static final DrafterConfig CONFIG =
      TestingDrafters.config(1, Taps.of(4), 4, new Heads(2, 1, 16), 32, 48, VOCABULARY);

  @Test
  void lossFallsAndBlocksAreAcceptedWhole() throws IOException {
    int steps = 400;
    DrafterSettings settings =
        new DrafterSettings(
            1,
            steps,
            8,
            DrafterSettings.hardLabels(4),
            new OptimizerSettings(
                1e-2, 0.05, OptimizerSettings.Schedule.COSINE, 0, 0, 1, 0.9, 0.95, 1e-8));
    float[] weights = new Initializer(5).weights(CONFIG, new ParameterLayout(CONFIG));
    try (Backend backend = Backends.open("cpu", 1);
        Workspace workspace = backend.workspace();
        DrafterTrainer trainer =
            new DrafterTrainer(
                backend,
                TestingDrafters.model(backend, workspace, CONFIG, weights),
                settings,
                weights,
                0,
                1)) {
      Random random = new Random(2);
      StepFigures first = null;
      StepFigures last = null;
      for (int step = 0; step < steps; step++) {
        trainer.accumulate(text(random, step, 24));
        last = trainer.step(Collective.alone());
        first = first == null ? last : first;
      }
      assertThat(first.loss()).isGreaterThan(2);
      assertThat(first.jointPrefix()).isLessThan(1.5);
      assertThat(last.loss()).isLessThan(0.1);
      assertThat(last.jointPrefix()).isGreaterThan(3.5);
      assertThat(last.accuracyBySlot()).hasSize(3).doesNotContain(0.0);
    }
  }

  /** {@code next = 3·token + 1 mod 13}; the hidden state names its token. */
  private static Microbatch text(Random random, int sequence, int length) {
    int[] ids = new int[length];
    byte[] mask = new byte[length];
    int columns = CONFIG.tapColumns();
    ByteBuffer taps = ByteBuffer.allocate(4 * length * columns).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < length; i++) {
      ids[i] = i == 0 ? random.nextInt(VOCABULARY - 1) : (3 * ids[i - 1] + 1) % 13;
      mask[i] = 1;
      for (int c = 0; c < columns; c++) {
        taps.putFloat(c == ids[i] ? 4f : 0.1f * (float) random.nextGaussian());
      }
    }
    return new Microbatch(
        0,
        new long[] {sequence},
        new int[] {0, length},
        ids,
        mask,
        List.of(new HiddenRows(0, length, taps.flip(), null, DType.F32)));
  }
}
