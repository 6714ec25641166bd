package org.draftmill.compute.target;

import static org.assertj.core.api.Assertions.assertThat;
import static org.draftmill.compute.target.TestingTargets.assertClose;
import static org.draftmill.compute.target.TestingTargets.columns;

import java.util.Arrays;
import org.draftmill.compute.Backends;
import org.draftmill.compute.cuda.CudaEmulator;
import org.draftmill.compute.host.PoisonedMemory;
import org.draftmill.compute.ops.Backend;
import org.draftmill.compute.target.TestingTargets.Reference;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Targets on a GPU: near the judge's numbers, as near as operands in bf16 allow, and the same bits
 * packed, alone and token by token.
 */
@ExtendWith({CudaEmulator.class, PoisonedMemory.class})
class TargetOnCudaTest {
  private static final double BF16 = 0x1p-5;

  @ParameterizedTest
  @ValueSource(strings = {"qwen3-wide-head", "qwen2-bias", "mistral-window"})
  void isTheSameInEveryWayOfRunning(String name) throws InterruptedException {
    try (Backend backend = Backends.open("cuda", 1);
        Reference reference = TestingTargets.reference(name);
        TargetModel model = TargetModel.load(TestingTargets.folder(name), backend);
        TargetSession session = model.open(Taps.of(0, 4), 64)) {
      int hidden = model.config().hidden();
      int vocabulary = model.config().vocabulary();
      int[] ids = reference.ints("input_ids");
      int[] lengths = reference.ints("doc_lengths");
      int[] starts = new int[lengths.length + 1];
      for (int i = 0; i < lengths.length; i++) {
        starts[i + 1] = starts[i] + lengths[i];
      }
      float[] states;
      float[] taps;
      try (Forward packed = model.forward(ids, starts, Taps.of(0, 4), true)) {
        states = packed.finalStates().toArray();
        taps = packed.taps().toArray();
        assertThat(packed.allFinite()).isTrue();
      }
      assertClose("first layer", columns(taps, 2 * hidden, 0, hidden), tap(reference, 0), BF16);
      assertClose("layer 4", columns(taps, 2 * hidden, hidden, hidden), tap(reference, 4), BF16);
      assertClose("final states", states, reference.floats("final_norm"), BF16);

      int row = starts[1];
      int end = starts[2];
      int[] own = Arrays.copyOfRange(ids, row, end);
      try (Forward alone = model.forward(own, new int[] {0, own.length}, Taps.of(0, 4), true)) {
        assertThat(alone.finalStates().toArray())
            .containsExactly(Arrays.copyOfRange(states, row * hidden, end * hidden));
      }
      for (int step : new int[] {7, 1, 3}) {
        TargetSession.Scores scores = session.decode(Arrays.copyOfRange(ids, row, row + step));
        assertThat(scores.finalStates().toArray())
            .containsExactly(Arrays.copyOfRange(states, row * hidden, (row + step) * hidden));
        assertThat(scores.taps().toArray())
            .containsExactly(Arrays.copyOfRange(taps, row * 2 * hidden, (row + step) * 2 * hidden));
        assertClose(
            "logits",
            scores.logits().toArray(),
            Arrays.copyOfRange(
                reference.floats("logits"), row * vocabulary, (row + step) * vocabulary),
            BF16);
        row += step;
      }
    }
  }

  /** The judge's state after a decoder layer. */
  private static float[] tap(Reference reference, int layer) {
    return reference.floats("hidden." + Taps.of(layer).toHiddenStateIndices().get(0));
  }
}
