package org.draftmill.compute.drafter;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import org.draftmill.compute.Backends;
import org.draftmill.compute.cuda.CudaBackend;
import org.draftmill.compute.ops.Backend;
import org.draftmill.compute.ops.Heads;
import org.draftmill.compute.ops.Workspace;
import org.draftmill.compute.target.Taps;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DrafterMemoryTest {
  private static final int VOCABULARY = 6000;
  private static final DrafterConfig CONFIG =
      TestingDrafters.config(2, Taps.of(1, 4), 8, new Heads(2, 1, 8), 16, 24, VOCABULARY);

  @ParameterizedTest
  @ValueSource(strings = {"reference", "cpu"})
  void logitsAreNeverWholeAndMemoryDoesNotGrowWithTheMicrobatch(String backendName) {
    int passRows = 600;
    DrafterSettings settings =
        new DrafterSettings(
            42,
            10,
            64,
            DrafterSettings.hardLabels(CONFIG.blockSize()),
            OptimizerSettings.DEFAULTS,
            passRows,
            1);
    float[] weights = new Initializer(5).weights(CONFIG, new ParameterLayout(CONFIG));
    try (Backend backend = Backends.open(backendName, 2);
        Workspace workspace = backend.workspace();
        DrafterTrainer trainer =
            new DrafterTrainer(
                backend,
                TestingDrafters.model(backend, workspace, CONFIG, weights),
                settings,
                weights,
                0,
                1)) {
      Microbatch small = full(CONFIG, 1);
      Microbatch large = full(CONFIG, 6);
      trainer.accumulate(small);
      long afterSmall = held(backend, trainer);
      MicrobatchFigures figures = trainer.accumulate(large);
      long slots = figures.blocks() * CONFIG.slotsPerBlock();
      assertThat(held(backend, trainer)).isLessThanOrEqualTo(afterSmall * 5 / 4);
      assertThat(4 * slots * VOCABULARY).isGreaterThan(60L << 20);
      assertThat(held(backend, trainer)).isLessThan(4L << 20);
      DrafterMemory estimate = DrafterMemory.estimate(CONFIG, settings, 600, 6, 1, false);
      // Backends may keep the chunk of logits elsewhere.
      assertThat(held(backend, trainer)).isBetween(estimate.device() / 3, estimate.device());
    }
  }

  /** With what the operations keep for themselves. */
  private static long held(Backend backend, DrafterTrainer trainer) {
    return trainer.bytesHeld() + backend.bytesHeld();
  }

  /**
   * Scratch memory is for one layer at a time, and all share the angles of the rotary embedding.
   */
  @Test
  void moreLayersNeedNoMoreScratchMemory() {
    assertThat(scratchOf(1)).isPositive().isEqualTo(scratchOf(3));
  }

  private static long scratchOf(int layers) {
    DrafterConfig config =
        TestingDrafters.config(layers, Taps.of(1, 4), 4, new Heads(2, 1, 8), 16, 24, 64);
    DrafterSettings settings =
        new DrafterSettings(
            42, 10, 4, DrafterSettings.hardLabels(4), OptimizerSettings.DEFAULTS, 40, 1);
    float[] weights = new Initializer(5).weights(config, new ParameterLayout(config));
    try (Backend backend = Backends.open("cpu", 1);
        Workspace workspace = backend.workspace();
        DrafterTrainer trainer =
            new DrafterTrainer(
                backend,
                TestingDrafters.model(backend, workspace, config, weights),
                settings,
                weights,
                0,
                1)) {
      trainer.accumulate(full(config, 2));
      return backend.bytesHeld();
    }
  }

  /** Weights are the largest part of real drafters; products want them in two arrangements. */
  @ParameterizedTest
  @ValueSource(strings = {"reference", "cpu"})
  void theEstimateHoldsWhereWeightsAreTheLargestPart(String backendName) {
    requireFit(backendName);
  }

  static void requireFit(String backendName) {
    boolean onGpu = backendName.equals(CudaBackend.NAME);
    DrafterConfig wide =
        TestingDrafters.config(2, Taps.of(1, 4), 4, new Heads(2, 1, 64), 256, 768, 64);
    DrafterSettings settings =
        new DrafterSettings(
            42, 10, 1, DrafterSettings.hardLabels(4), OptimizerSettings.DEFAULTS, 4, 1);
    float[] weights = new Initializer(5).weights(wide, new ParameterLayout(wide));
    try (Backend backend = Backends.open(backendName, 1);
        Workspace workspace = backend.workspace();
        DrafterTrainer trainer =
            new DrafterTrainer(
                backend,
                TestingDrafters.model(backend, workspace, wide, weights),
                settings,
                weights,
                0,
                1)) {
      trainer.accumulate(full(wide, 1));
      DrafterMemory estimate = DrafterMemory.estimate(wide, settings, 100, 1, 1, onGpu);
      assertThat(held(backend, trainer)).isBetween(estimate.device() / 3, estimate.device());
      assertThat(estimate.checkpoint()).isGreaterThanOrEqualTo(trainer.snapshot().bytes());
      assertThat(estimate.host() > estimate.checkpoint()).isEqualTo(onGpu);
    }
  }

  /** Documents of 100 supervised tokens, each with all its anchors. */
  private static Microbatch full(DrafterConfig config, int documents) {
    int[] lengths = new int[documents];
    Arrays.fill(lengths, 100);
    byte[] mask = new byte[100 * documents];
    Arrays.fill(mask, (byte) 1);
    return TestingMicrobatches.withMask(TestingMicrobatches.random(config, 1, lengths), mask);
  }
}
