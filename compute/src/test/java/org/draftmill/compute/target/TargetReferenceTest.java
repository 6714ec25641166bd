package org.draftmill.compute.target;

import static org.assertj.core.api.Assertions.assertThat;
import static org.draftmill.compute.target.TestingTargets.assertClose;
import static org.draftmill.compute.target.TestingTargets.columns;

import java.util.Arrays;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.draftmill.compute.ops.Backend;
import org.draftmill.compute.target.TestingTargets.Reference;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Every supported family against numbers of Hugging Face transformers in double precision. */
class TargetReferenceTest {

  /** Each case with a backend of its own, which JUnit closes after it. */
  static Stream<Arguments> cases() {
    return Arrays.stream(TestingTargets.DENSE)
        .flatMap(
            model ->
                TestingTargets.backends()
                    .map(
                        backend ->
                            Arguments.argumentSet(
                                model + " on " + backend.name(), model, backend)));
  }

  @ParameterizedTest
  @MethodSource("cases")
  void packedDocumentsAgreeWithTheJudge(String name, Backend backend) throws Exception {
    try (Reference reference = TestingTargets.reference(name);
        TargetModel model = TargetModel.load(TestingTargets.folder(name), backend)) {
      int layers = model.config().layers();
      int hidden = model.config().hidden();
      int[] ids = reference.ints("input_ids");
      int[] starts = starts(reference.ints("doc_lengths"));
      Taps all = new Taps(IntStream.range(0, layers).boxed().toList());
      try (Forward forward = model.forward(ids, starts, all, true)) {
        float[] taps = forward.taps().toArray();
        for (int layer = 0; layer < layers; layer++) {
          float[] expected = reference.floats("hidden." + all.toHiddenStateIndices().get(layer));
          float[] actual = columns(taps, layers * hidden, layer * hidden, hidden);
          assertClose("state after layer " + layer, actual, expected);
        }
        assertClose("final norm", forward.finalStates().toArray(), reference.floats("final_norm"));
        assertThat(forward.allFinite()).isTrue();
      }
    }
  }

  @ParameterizedTest
  @MethodSource("cases")
  void aDocumentAloneGivesTheSameBitsAsPacked(String name, Backend backend) throws Exception {
    try (Reference reference = TestingTargets.reference(name);
        TargetModel model = TargetModel.load(TestingTargets.folder(name), backend)) {
      Taps taps = Taps.of(0, 2, 4);
      int[] ids = reference.ints("input_ids");
      int[] starts = starts(reference.ints("doc_lengths"));
      try (Forward packed = model.forward(ids, starts, taps, true)) {
        for (int document = 0; document + 1 < starts.length; document++) {
          int from = starts[document];
          int to = starts[document + 1];
          int[] own = Arrays.copyOfRange(ids, from, to);
          try (Forward alone = model.forward(own, new int[] {0, to - from}, taps, true)) {
            assertThat(alone.taps().toArray()).isEqualTo(packed.taps().rows(from, to).toArray());
            assertThat(alone.finalStates().toArray())
                .isEqualTo(packed.finalStates().rows(from, to).toArray());
          }
        }
      }
    }
  }

  @ParameterizedTest
  @MethodSource("cases")
  void decodingGivesTheSameBitsAsPackedAndTheJudgesLogits(String name, Backend backend)
      throws Exception {
    try (Reference reference = TestingTargets.reference(name);
        TargetModel model = TargetModel.load(TestingTargets.folder(name), backend)) {
      Taps taps = Taps.of(1, 4);
      int vocabulary = model.config().vocabulary();
      int[] ids = reference.ints("input_ids");
      int[] starts = starts(reference.ints("doc_lengths"));
      float[] expected = reference.floats("logits");
      try (Forward packed = model.forward(ids, starts, taps, true);
          TargetSession session = model.open(taps, 64)) {
        for (int document = 0; document + 1 < starts.length; document++) {
          session.clear();
          int row = starts[document];
          for (int step : new int[] {11, 1, 1, 5, 1}) {
            int[] tokens = Arrays.copyOfRange(ids, row, row + step);
            TargetSession.Scores scores = session.decode(tokens);
            assertThat(scores.taps().toArray())
                .isEqualTo(packed.taps().rows(row, row + step).toArray());
            assertThat(scores.finalStates().toArray())
                .isEqualTo(packed.finalStates().rows(row, row + step).toArray());
            assertClose(
                "logits of document " + document,
                scores.logits().toArray(),
                Arrays.copyOfRange(expected, row * vocabulary, (row + step) * vocabulary));
            row += step;
          }
        }
      }
    }
  }

  @ParameterizedTest
  @MethodSource("cases")
  void rejectedTokensLeaveNoTrace(String name, Backend backend) {
    try (Reference reference = TestingTargets.reference(name);
        TargetModel model = TargetModel.load(TestingTargets.folder(name), backend);
        TargetSession session = model.open(null, 64)) {
      int[] ids = Arrays.copyOf(reference.ints("input_ids"), 20);
      float[] straight = session.prefill(ids).logits().toArray();
      session.clear();
      session.prefill(Arrays.copyOf(ids, 12));
      session.decode(3, 1, 4, 1, 5, 9, 2, 6);
      session.truncate(12);
      float[] detour = session.prefill(Arrays.copyOfRange(ids, 12, 20)).logits().toArray();
      assertThat(detour).isEqualTo(straight);
      assertThat(session.length()).isEqualTo(20);
    }
  }

  private static int[] starts(int[] lengths) {
    int[] starts = new int[lengths.length + 1];
    for (int i = 0; i < lengths.length; i++) {
      starts[i + 1] = starts[i] + lengths[i];
    }
    return starts;
  }
}
