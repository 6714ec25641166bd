package org.draftmill.compute.decoding;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.draftmill.compute.Backends;
import org.draftmill.compute.drafter.DrafterConfig;
import org.draftmill.compute.drafter.DrafterConfig.Choices;
import org.draftmill.compute.drafter.DrafterModel;
import org.draftmill.compute.drafter.Initializer;
import org.draftmill.compute.drafter.ParameterLayout;
import org.draftmill.compute.ops.Backend;
import org.draftmill.compute.target.Taps;
import org.draftmill.compute.target.TargetModel;
import org.draftmill.compute.target.TestingTargets;
import org.draftmill.compute.target.TestingTargets.Reference;
import org.junit.jupiter.api.Test;

/** Decoding with a real draft model that was never trained. */
class DrafterDecodingTest {
  private static final int MASK = 2047;

  @Test
  void anUntrainedDrafterSavesHardlyARoundAndChangesNoToken() {
    try (Backend backend = Backends.open("cpu", 2);
        Reference reference = TestingTargets.demoReference();
        TargetModel target = TargetModel.load(TestingTargets.demo(), backend)) {
      DrafterConfig config =
          DrafterConfig.of(target.config(), Choices.full(Taps.of(1, 3, 5), 1, 8, MASK));
      float[] weights = new Initializer(1).weights(config, new ParameterLayout(config));
      List<int[]> prompts = List.of(reference.ints("p0.input_ids"), reference.ints("p3.input_ids"));
      try (DrafterModel drafter = new DrafterModel(backend, config, target.head(), weights)) {
        DecodingFigures greedy =
            new DecodingEvaluation(target, drafter, DecodingSettings.greedy(24))
                .run(prompts, done -> {});
        assertThat(greedy.greedyEqual()).hasValue(true);
        assertThat(greedy.tauPooled()).isBetween(1.0, 1.2);

        DecodingFigures sampled =
            new DecodingEvaluation(target, drafter, new DecodingSettings(24, 0.8, 7))
                .run(prompts, done -> {});
        assertThat(sampled.greedyEqual()).isEmpty();
        assertThat(sampled.tauPooled()).isBetween(1.0, 1.2);
      }
    }
  }
}
