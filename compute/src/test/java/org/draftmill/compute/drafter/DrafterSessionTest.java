package org.draftmill.compute.drafter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;
import org.draftmill.compute.Backends;
import org.draftmill.compute.decoding.DraftSession;
import org.draftmill.compute.ops.Backend;
import org.draftmill.compute.ops.Heads;
import org.draftmill.compute.ops.Matrix;
import org.draftmill.compute.ops.Workspace;
import org.draftmill.compute.target.Rope;
import org.draftmill.compute.target.Taps;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DrafterSessionTest {
  private static final DrafterConfig CONFIG =
      new DrafterConfig(
          20,
          28,
          new Heads(4, 2, 6),
          23,
          8,
          Taps.of(1, 4),
          5,
          22,
          List.of(false, true, false),
          3,
          1e-6f,
          new Rope(10_000, new Rope.Unscaled()),
          512,
          OptionalInt.empty(),
          List.of());

  /** Whatever pieces the context came in, a block's logits are those of the training forward. */
  @ParameterizedTest
  @ValueSource(strings = {"reference", "cpu"})
  void draftsWhatTrainingSees(String backendName) {
    float[] weights = new Initializer(5).weights(CONFIG, new ParameterLayout(CONFIG));
    Microbatch microbatch = TestingMicrobatches.random(CONFIG, 3, 17);
    int[][] anchors = {{0, 1, 5, 6, 15}};
    try (Backend backend = Backends.open(backendName, 2);
        Workspace workspace = backend.workspace();
        DrafterModel model = TestingDrafters.model(backend, workspace, CONFIG, weights);
        TrainingPass training = new TrainingPass(model, backend);
        DraftSession session = model.open(17)) {
      HiddenStates hidden = new HiddenStates(microbatch, CONFIG, false);
      Matrix normed =
          training.forward(new Pass(microbatch, CONFIG.blockSize(), 0, 1, anchors), hidden);
      Matrix logits = workspace.matrix(normed.rows(), CONFIG.vocabularySize());
      backend.ops().linear(normed, model.head(), logits);
      float[] expected = logits.toArray();

      Matrix taps = workspace.matrix(17, CONFIG.tapColumns());
      hidden.taps(0, 17, workspace, taps);
      int block = CONFIG.slotsPerBlock() * CONFIG.vocabularySize();
      for (int round = 0; round < 2; round++) {
        for (int i = 0; i < anchors[0].length; i++) {
          int anchor = anchors[0][i];
          session.extend(taps.rows(session.contextLength(), anchor));
          assertThat(session.contextLength()).isEqualTo(anchor);
          float[] drafted = session.draft(microbatch.inputIds()[anchor]).toArray();
          assertThat(drafted)
              .as("anchor %d", anchor)
              .isEqualTo(Arrays.copyOfRange(expected, i * block, (i + 1) * block));
        }
        session.clear();
        assertThat(session.contextLength()).isZero();
      }
      session.extend(taps);
      assertThatThrownBy(() -> session.extend(taps.rows(0, 1)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("18 positions do not fit a draft session of 17");
    }
  }
}
