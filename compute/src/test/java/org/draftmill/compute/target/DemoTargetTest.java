package org.draftmill.compute.target;

import static org.assertj.core.api.Assertions.assertThat;
import static org.draftmill.compute.target.TestingTargets.assertClose;
import static org.draftmill.compute.target.TestingTargets.columns;

import java.util.Arrays;
import java.util.stream.Stream;
import org.draftmill.compute.ops.Backend;
import org.draftmill.compute.target.TestingTargets.Reference;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The demo's target against numbers of Hugging Face transformers in double precision. */
class DemoTargetTest {
  /** The reference backend is slow: one prompt shows that it agrees. */
  private static int prompts(Backend backend) {
    return backend.name().equals("reference") ? 1 : 4;
  }

  static Stream<Backend> backends() {
    return TestingTargets.backends();
  }

  @ParameterizedTest
  @MethodSource("backends")
  void statesAgreeWithTheJudge(Backend backend) throws Exception {
    try (Reference reference = TestingTargets.demoReference();
        TargetModel model = TargetModel.load(TestingTargets.demo(), backend)) {
      int hidden = model.config().hidden();
      Taps all = Taps.of(0, 1, 2, 3, 4, 5);
      for (int prompt = 0; prompt < prompts(backend); prompt++) {
        int[] ids = reference.ints("p" + prompt + ".input_ids");
        float[] states = reference.floats("p" + prompt + ".hidden"); // [7, tokens, hidden]
        int size = ids.length * hidden;
        try (Forward forward = model.forward(ids, new int[] {0, ids.length}, all, true)) {
          float[] taps = forward.taps().toArray();
          for (int tap = 0; tap < all.count(); tap++) {
            int at = all.toHiddenStateIndices().get(tap) * size;
            assertClose(
                "prompt %d, layer %d".formatted(prompt, tap),
                columns(taps, forward.tapColumns(), tap * hidden, hidden),
                Arrays.copyOfRange(states, at, at + size));
          }
          assertClose(
              "prompt %d, final norm".formatted(prompt),
              forward.finalStates().toArray(),
              reference.floats("p" + prompt + ".final_norm"));
        }
      }
    }
  }

  @ParameterizedTest
  @MethodSource("backends")
  void greedyDecodingFindsTheJudgesTokens(Backend backend) {
    try (Reference reference = TestingTargets.demoReference();
        TargetModel model = TargetModel.load(TestingTargets.demo(), backend);
        TargetSession session = model.open(null, 128)) {
      for (int prompt = 0; prompt < prompts(backend); prompt++) {
        int[] expected = reference.ints("p" + prompt + ".greedy");
        int[] found = new int[expected.length];
        session.clear();
        TargetSession.Scores scores = session.prefill(reference.ints("p" + prompt + ".input_ids"));
        assertClose(
            "last logits of prompt " + prompt,
            scores.logits().toArray(),
            reference.floats("p" + prompt + ".logits_last"));
        for (int i = 0; i < found.length; i++) {
          found[i] = backend.ops().argmaxRows(scores.logits())[0];
          scores = session.decode(found[i]);
        }
        assertThat(found).as("prompt %d", prompt).isEqualTo(expected);
      }
    }
  }
}
