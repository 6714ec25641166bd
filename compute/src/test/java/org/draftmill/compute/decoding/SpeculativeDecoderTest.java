package org.draftmill.compute.decoding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.draftmill.compute.Backends;
import org.draftmill.compute.InputException;
import org.draftmill.compute.decoding.Continuation.Round;
import org.draftmill.compute.ops.Backend;
import org.draftmill.compute.target.Forward;
import org.draftmill.compute.target.Taps;
import org.draftmill.compute.target.TargetModel;
import org.draftmill.compute.target.TestingTargets;
import org.draftmill.compute.target.TestingTargets.Reference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SpeculativeDecoderTest {
  private static final int BLOCK = 8;
  private static final Taps TAPS = Taps.of(1, 3, 5);
  private static final int NEW_TOKENS = 48;

  @Test
  void aPerfectDraftFillsEveryRoundAndAHopelessOneNone() {
    withDemo(
        (target, draft, prompt, greedy) -> {
          draft.rightSlots = new int[] {BLOCK - 1};
          Continuation perfect = decode(target, draft, prompt, greedy.length);
          assertThat(perfect.tokens()).isEqualTo(asList(greedy));
          // 1 token of the prefill, then 6 rounds of 8: the last one runs past the limit
          assertThat(perfect.rounds().subList(0, 5)).containsOnly(new Round(BLOCK - 1, BLOCK));
          assertThat(perfect.rounds()).hasSize(6);

          draft.rightSlots = new int[] {0};
          Continuation hopeless = decode(target, draft, prompt, greedy.length);
          assertThat(hopeless.tokens()).isEqualTo(asList(greedy));
          assertThat(hopeless.rounds()).hasSize(greedy.length - 1).containsOnly(new Round(0, 1));
        });
  }

  @Test
  void contextIsThatOfTheCommittedTokensWhateverWasRejected() {
    withDemo(
        (target, draft, prompt, greedy) -> {
          draft.rightSlots = new int[] {2, 0, 7, 1};
          Continuation found = decode(target, draft, prompt, greedy.length);
          assertThat(found.tokens()).isEqualTo(asList(greedy));
          assertThat(found.rounds().subList(0, 4))
              .containsExactly(new Round(2, 3), new Round(0, 1), new Round(7, 8), new Round(1, 2));

          int rows = draft.context.length / (TAPS.count() * target.config().hidden());
          assertThat(rows).isGreaterThanOrEqualTo(prompt.length + greedy.length - 1);
          int known = prompt.length + greedy.length - 1;
          int[] sequence = Arrays.copyOf(draft.sequence, known);
          try (Forward packed = target.forward(sequence, new int[] {0, known}, TAPS, false)) {
            float[] expected = packed.taps().toArray();
            assertThat(Arrays.copyOf(draft.context, expected.length)).isEqualTo(expected);
          }
        });
  }

  @Test
  void randomDraftsChangeNothingButTheSpeed() {
    withDemo(
        (target, draft, prompt, greedy) -> {
          Continuation found = decode(target, draft, prompt, greedy.length);
          assertThat(found.tokens()).isEqualTo(asList(greedy));
        });
  }

  @Test
  void aTextThatEndsInsideARoundEndsThere(@TempDir Path folder) throws IOException {
    for (String file : new String[] {"config.json", "model.safetensors"}) {
      Files.copy(TestingTargets.demo().resolve(file), folder.resolve(file));
    }
    try (Backend backend = Backends.open("cpu", 2);
        Reference reference = TestingTargets.demoReference()) {
      int[] prompt = reference.ints("p2.input_ids");
      int[] greedy = reference.ints("p2.greedy");
      int end = greedy[11]; // the fourth token of the second round
      assertThat(IntStream.of(greedy).limit(11)).doesNotContain(end);
      Files.writeString(
          folder.resolve("generation_config.json"), "{\"eos_token_id\": [%d]}".formatted(end));
      try (TargetModel target = TargetModel.load(folder, backend)) {
        TestingDraftModel draft =
            new TestingDraftModel(backend, BLOCK, TAPS, target.config().vocabulary());
        draft.sequence = IntStream.concat(IntStream.of(prompt), IntStream.of(greedy)).toArray();
        draft.rightSlots = new int[] {BLOCK - 1};
        Continuation found = decode(target, draft, prompt, greedy.length);
        assertThat(found.tokens()).isEqualTo(asList(greedy).subList(0, 12));
        assertThat(found.rounds()).containsExactly(new Round(BLOCK - 1, BLOCK), new Round(3, 3));
        try (TargetDecoder alone =
            new TargetDecoder(target, prompt.length, DecodingSettings.greedy(greedy.length))) {
          assertThat(alone.decode(0, prompt).tokens()).isEqualTo(found.tokens());
        }
      }
    }
  }

  @Test
  void nearlyColdSamplingIsGreedy() {
    withDemo(
        (target, draft, prompt, greedy) -> {
          draft.rightSlots = new int[] {3, 5};
          DecodingSettings cold = new DecodingSettings(20, 1e-5, 1);
          try (SpeculativeDecoder decoder =
                  new SpeculativeDecoder(target, draft, prompt.length, cold);
              TargetDecoder alone = new TargetDecoder(target, prompt.length, cold)) {
            List<Integer> expected = asList(greedy).subList(0, 20);
            assertThat(decoder.decode(0, prompt).tokens()).isEqualTo(expected);
            assertThat(alone.decode(0, prompt).tokens()).isEqualTo(expected);
          }
        });
  }

  @Test
  void theEvaluationAddsUpTheRounds() {
    withDemo(
        (target, draft, prompt, greedy) -> {
          draft.rightSlots = new int[] {1, 3};
          List<Integer> progress = new ArrayList<>();
          DecodingFigures figures =
              new DecodingEvaluation(target, draft, DecodingSettings.greedy(13))
                  .run(List.of(prompt, prompt), progress::add);
          // rounds of 2 and 4 tokens in turn: 12 after the first token are 4 rounds
          assertThat(figures.prompts()).isEqualTo(2);
          assertThat(figures.newTokens()).isEqualTo(26);
          assertThat(figures.rounds()).isEqualTo(8);
          assertThat(figures.tauPooled()).isEqualTo(3);
          assertThat(figures.tauMeanOfMeans()).isEqualTo(3);
          assertThat(figures.acceptedBySlot()).containsExactly(1., .5, .5, 0., 0., 0., 0.);
          assertThat(figures.greedyEqual()).hasValue(true);
          assertThat(figures.speedup())
              .isPositive()
              .isCloseTo(
                  figures.speculativeTokensPerSecond() / figures.targetTokensPerSecond(),
                  within(1e-9));
          assertThat(progress).containsExactly(1, 2);
        });
  }

  @Test
  void refusesPromptsWithNothingInThem() {
    withDemo(
        (target, draft, prompt, greedy) -> {
          DecodingEvaluation evaluation =
              new DecodingEvaluation(target, draft, DecodingSettings.greedy(1));
          assertThatThrownBy(() -> evaluation.run(List.of(prompt, new int[0]), done -> {}))
              .isInstanceOf(InputException.class)
              .hasMessageContaining("Prompt 2");
          assertThatThrownBy(() -> evaluation.run(List.of(), done -> {}))
              .isInstanceOf(InputException.class);
          int most = target.config().maxPositions();
          assertThatThrownBy(() -> evaluation.run(List.of(prompt, new int[most]), done -> {}))
              .isInstanceOf(InputException.class)
              .hasMessageStartingWith(
                  "Prompt 2 has %d tokens, but the target reads %d at most", most, most);
        });
  }

  @Test
  void noContinuationIsLongerThanWhatTheTargetReads() {
    withDemo(
        (target, draft, prompt, greedy) -> {
          draft.rightSlots = new int[] {7};
          DecodingFigures figures =
              new DecodingEvaluation(target, draft, DecodingSettings.greedy(Integer.MAX_VALUE))
                  .run(List.of(prompt), done -> {});
          assertThat(figures.newTokens()).isBetween(1L, (long) target.config().maxPositions());
        });
  }

  private interface Check {
    void run(TargetModel target, TestingDraftModel draft, int[] prompt, int[] greedy)
        throws Exception;
  }

  /** With a prompt whose continuation a judge knows; no end of text lies in it. */
  private static void withDemo(Check check) {
    try (Backend backend = Backends.open("cpu", 2);
        Reference reference = TestingTargets.demoReference();
        TargetModel target = TargetModel.load(TestingTargets.demo(), backend)) {
      int[] prompt = reference.ints("p2.input_ids");
      int[] greedy = reference.ints("p2.greedy");
      assertThat(greedy).hasSize(NEW_TOKENS).doesNotContain(2044, 2046);
      TestingDraftModel draft =
          new TestingDraftModel(backend, BLOCK, TAPS, target.config().vocabulary());
      draft.sequence = IntStream.concat(IntStream.of(prompt), IntStream.of(greedy)).toArray();
      check.run(target, draft, prompt, greedy);
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  private static Continuation decode(
      TargetModel target, DraftModel draft, int[] prompt, int newTokens) {
    try (SpeculativeDecoder decoder =
        new SpeculativeDecoder(target, draft, prompt.length, DecodingSettings.greedy(newTokens))) {
      return decoder.decode(0, prompt);
    }
  }

  private static List<Integer> asList(int[] values) {
    return IntStream.of(values).boxed().toList();
  }
}
