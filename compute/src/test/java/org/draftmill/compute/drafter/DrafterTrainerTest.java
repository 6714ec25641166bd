package org.draftmill.compute.drafter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.util.Arrays;
import java.util.stream.Stream;
import org.draftmill.compute.Backends;
import org.draftmill.compute.drafter.ParameterLayout.Parameter;
import org.draftmill.compute.ops.Backend;
import org.draftmill.compute.ops.Heads;
import org.draftmill.compute.ops.Workspace;
import org.draftmill.compute.target.Taps;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class DrafterTrainerTest {
  static Stream<Arguments> cases() {
    return DrafterReferenceTest.cases();
  }

  @ParameterizedTest(name = "{0} {1}")
  @MethodSource("cases")
  void weightsAfterStepsAreThoseOfAutograd(String backendName, String name) throws IOException {
    ReferenceCase reference = ReferenceCase.load(name);
    DrafterSettings settings =
        new DrafterSettings(0, 3, 8, reference.loss, reference.optimizer, 12, 1);
    try (Backend backend = Backends.open(backendName, 2);
        Workspace workspace = backend.workspace();
        DrafterTrainer trainer =
            new DrafterTrainer(
                backend,
                DrafterReferenceTest.model(backend, reference, workspace),
                settings,
                reference.weights.clone(),
                0,
                1)) {
      for (int step = 1; step <= 3; step++) {
        trainer.accumulate(reference.microbatch, reference.anchors);
        StepFigures figures = trainer.step(Collective.alone());
        if (step == 1) {
          assertThat(figures.loss()).isCloseTo(reference.expected("loss")[0], within(2e-5));
          assertThat(figures.accuracy()).isCloseTo(reference.expected("accuracy")[0], within(1e-6));
          assertThat(figures.jointPrefix())
              .isCloseTo(reference.expected("joint_prefix")[0], within(1e-6));
        }
        for (Parameter parameter : reference.layout.parameters()) {
          DrafterReferenceTest.close(
              Arrays.copyOfRange(
                  trainer.weights(), parameter.offset(), parameter.offset() + parameter.size()),
              reference.expected("after." + step + "." + parameter.name()),
              1e-4,
              "step " + step + " " + parameter.name());
        }
      }
    }
  }

  private static final DrafterConfig CONFIG = TestingDrafters.config(2, Taps.of(1, 4), 4);

  private interface Check {
    void run(DrafterTrainer trainer) throws IOException;
  }

  private static void withTrainer(DrafterConfig config, int passRows, Check check)
      throws IOException {
    float[] weights = new Initializer(5).weights(config, new ParameterLayout(config));
    try (Backend backend = Backends.open("cpu", 2);
        Workspace workspace = backend.workspace();
        DrafterTrainer trainer =
            new DrafterTrainer(
                backend,
                TestingDrafters.model(backend, workspace, config, weights),
                TestingDrafters.settings(config, 6, passRows),
                weights,
                0,
                1)) {
      check.run(trainer);
    }
  }

  @Test
  void aStepWithoutASupervisedSlotChangesNothingButTheStepCount() throws IOException {
    withTrainer(
        CONFIG,
        1000,
        trainer -> {
          Microbatch microbatch = TestingMicrobatches.random(CONFIG, 1, 9, 1, 5);
          trainer.accumulate(microbatch);
          trainer.step(Collective.alone());
          final String before = trainer.weightsSha256();
          MicrobatchFigures nothing =
              trainer.accumulate(TestingMicrobatches.withMask(microbatch, new byte[15]));
          assertThat(nothing.supervised()).isZero();
          assertThat(nothing.denominator()).isZero();
          trainer.tombstone();
          StepFigures figures = trainer.step(Collective.alone());
          assertThat(trainer.weightsSha256()).isEqualTo(before);
          assertThat(figures.skipped()).isFalse();
          assertThat(figures.loss()).isNaN();
          assertThat(figures.supervised()).isZero();
          assertThat(figures.microbatches()).isEqualTo(1);
          assertThat(figures.tombstones()).isEqualTo(1);
          assertThat(figures.tokens()).isEqualTo(15);
          assertThat(figures.step()).isEqualTo(1);
          assertThat(trainer.step()).isEqualTo(2);
        });
  }

  @Test
  void aTombstoneOrAnUnsupervisedMicrobatchDoesNotShowInTheWeights() throws IOException {
    String[] hashes = new String[2];
    for (int with = 0; with < 2; with++) {
      int index = with;
      withTrainer(
          CONFIG,
          1000,
          trainer -> {
            for (int step = 0; step < 2; step++) {
              trainer.accumulate(TestingMicrobatches.random(CONFIG, step, 12, 7));
              if (index == 1) {
                trainer.tombstone();
                trainer.accumulate(
                    TestingMicrobatches.withMask(
                        TestingMicrobatches.random(CONFIG, 50, 8), new byte[8]));
              }
              trainer.step(Collective.alone());
            }
            hashes[index] = trainer.weightsSha256();
          });
    }
    assertThat(hashes[0]).isEqualTo(hashes[1]);
  }

  @Test
  void aValueThatIsNotFiniteSkipsTheStep() throws IOException {
    withTrainer(
        CONFIG,
        1000,
        trainer -> {
          final String before = trainer.weightsSha256();
          trainer.accumulate(TestingMicrobatches.random(CONFIG, 1, 9, 12));
          Microbatch bad = TestingMicrobatches.random(CONFIG, 2, 9);
          bad.hidden().get(0).taps().putShort(0, (short) 0x7FC0); // NaN
          assertThat(trainer.accumulate(bad).flagged()).isTrue();
          StepFigures figures = trainer.step(Collective.alone());
          assertThat(figures.skipped()).isTrue();
          assertThat(figures.gradientNorm()).isNaN();
          assertThat(trainer.weightsSha256()).isEqualTo(before);
          assertThat(trainer.step()).isEqualTo(1);
          trainer.accumulate(TestingMicrobatches.random(CONFIG, 1, 9, 12));
          assertThat(trainer.step(Collective.alone()).skipped()).isFalse();
          assertThat(trainer.weightsSha256()).isNotEqualTo(before);
        });
  }

  @Test
  void oddShapesAndShortDocumentsWork() throws IOException {
    for (DrafterConfig config :
        new DrafterConfig[] {
          TestingDrafters.config(1, Taps.of(2), 2, new Heads(1, 1, 2), 3, 5, 7),
          TestingDrafters.config(3, Taps.of(0, 3, 7), 7, new Heads(3, 1, 10), 17, 33, 65),
          TestingDrafters.config(1, Taps.of(2, 5), 16, new Heads(4, 4, 8), 24, 40, 129)
        }) {
      withTrainer(
          config,
          1000,
          trainer -> {
            MicrobatchFigures figures =
                trainer.accumulate(TestingMicrobatches.random(config, 3, 1, 2, 3, 17, 1, 31));
            assertThat(figures.flagged()).isFalse();
            assertThat(figures.supervised()).isPositive();
            assertThat(figures.loss()).isPositive().isLessThan(50);
            StepFigures step = trainer.step(Collective.alone());
            assertThat(step.jointPrefix()).isBetween(1.0, (double) config.blockSize());
            assertThat(step.gradientNorm()).isPositive();
          });
    }
  }

  @Test
  void manyPassesAddUpToWhatOnePassGives() throws IOException {
    float[][] weights = new float[2][];
    for (int small = 0; small < 2; small++) {
      int index = small;
      withTrainer(
          CONFIG,
          small == 1 ? 1 : 100_000,
          trainer -> {
            MicrobatchFigures figures =
                trainer.accumulate(TestingMicrobatches.random(CONFIG, 4, 12, 30, 2, 9, 1, 21));
            assertThat(figures.flagged()).isFalse();
            trainer.step(Collective.alone());
            weights[index] = trainer.weights().clone();
          });
    }
    // Sums of single documents are rounded on their own, so the last bits may differ.
    DrafterReferenceTest.close(weights[1], weights[0], 1e-4, "weights");
  }

  @Test
  void refusesAMicrobatchThatDoesNotFit() throws IOException {
    withTrainer(
        CONFIG,
        1000,
        trainer -> {
          Microbatch microbatch = TestingMicrobatches.random(CONFIG, 1, 9, 4);
          microbatch.inputIds()[3] = CONFIG.vocabularySize();
          assertThatThrownBy(() -> trainer.accumulate(microbatch))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("ids of the vocabulary")
              .hasMessageContaining("found " + CONFIG.vocabularySize());
          DrafterConfig wider = TestingDrafters.config(2, Taps.of(1, 4, 6), 4);
          assertThatThrownBy(() -> trainer.accumulate(TestingMicrobatches.random(wider, 1, 9, 4)))
              .hasMessageContaining("bytes of taps");
          assertThat(trainer.inProgress()).isFalse();
        });
  }
}
