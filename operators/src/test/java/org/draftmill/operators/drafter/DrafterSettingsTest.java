package org.draftmill.operators.drafter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.util.InstantiationUtil;
import org.draftmill.compute.InputException;
import org.draftmill.compute.cuda.MatrixProducts;
import org.draftmill.compute.drafter.OptimizerSettings;
import org.draftmill.compute.ops.HeadLoss;
import org.draftmill.operators.drafter.state.RunIdentity;
import org.draftmill.operators.gpu.GpuProducts;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DrafterSettingsTest {
  private final Configuration options = new Configuration();

  private DrafterSettings settings() {
    return DrafterSettings.from(
        options,
        new DrafterSettings.Run(
            "run", "target", List.of(1, 9), 151_669, 42, 100, 2, 3, new RunIdentity(Map.of())));
  }

  @Test
  void defaultsAreThoseOfTheField() {
    DrafterSettings settings = settings();
    assertThat(settings.totalSteps()).as("the last step may be smaller").isEqualTo(9);
    assertThat(settings.training().optimizer()).isEqualTo(OptimizerSettings.DEFAULTS);
    HeadLoss.Settings loss = settings.training().loss();
    assertThat(loss.gamma()).isEqualTo(7f);
    assertThat(loss.streak()).isFalse();
    assertThat(settings.training().anchors()).isEqualTo(512);
    assertThat(settings.training().totalSteps()).isEqualTo(9);
  }

  @Test
  void whatIsGivenIsUsed() {
    options.set(DrafterOptions.BLOCK_SIZE, 8);
    options.set(DrafterOptions.STREAK_ALPHA, 0.25);
    options.set(DrafterOptions.BETAS, List.of(0.8, 0.99));
    options.set(DrafterOptions.SCHEDULE, OptimizerSettings.Schedule.WSD);
    HeadLoss.Settings loss = settings().training().loss();
    assertThat(loss.gamma()).as("that of a block of 8").isEqualTo(4f);
    assertThat(loss.streakAlpha()).isEqualTo(0.25f);
    OptimizerSettings optimizer = settings().training().optimizer();
    assertThat(optimizer.beta2()).isEqualTo(0.99);
    assertThat(optimizer.schedule()).isEqualTo(OptimizerSettings.Schedule.WSD);
  }

  @Test
  void travelsToTheTaskManagers() throws Exception {
    options.set(DrafterOptions.ANCHORS, 7);
    DrafterSettings copy = InstantiationUtil.clone(settings());
    assertThat(copy.training()).isEqualTo(settings().training());
    assertThat(copy.identity()).isEqualTo(settings().identity());
    assertThat(copy.run()).isEqualTo(settings().run());
  }

  @Test
  void theRateMayChangeInAResumedRunButTheStepsMayNot() {
    RunIdentity stored = settings().identity();
    options.set(DrafterOptions.LEARNING_RATE, 1e-4);
    settings().identity().requireSameAs(stored);
    options.set(DrafterOptions.ACCUMULATION, 6);
    assertThatThrownBy(() -> settings().identity().requireSameAs(stored))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("drafter.accumulation = 12")
        .hasMessageContaining("drafter.accumulation = 6");
  }

  @Test
  void aRunGoesOnWithTheProductsThatItBeganWith() {
    RunIdentity stored = settings().identity();
    options.set(GpuProducts.OPTION, MatrixProducts.OWN);
    settings().identity().requireSameAs(stored);
    options.set(GpuProducts.OPTION, MatrixProducts.CUBLAS);
    assertThat(settings().products()).isEqualTo(MatrixProducts.CUBLAS);
    assertThatThrownBy(() -> settings().identity().requireSameAs(stored))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("run.products = own, but this one has run.products = cublas");
  }

  @ParameterizedTest
  @CsvSource({
    "drafter.parallelism, 0",
    "drafter.device, tpu",
    "drafter.layers, 0",
    "drafter.block-size, 1",
    "drafter.accumulation, 0",
    "drafter.threads, 0",
    "drafter.sliding-layers, 5",
    "drafter.optimizer.betas, 0.9",
    "drafter.optimizer.lr, -1",
    "drafter.loss.kl-weight, 2",
    "drafter.anchors, 0",
    "drafter.timeout, 1 ms",
    "drafter.reduce-timeout, 1 ms",
    "drafter.keep-exports, -1"
  })
  void whatCannotBeIsRefusedByName(String key, String value) {
    options.setString(key, value);
    assertThatThrownBy(this::settings).isInstanceOf(InputException.class).hasMessageContaining(key);
  }

  @Test
  void everyOptionIsDescribed() throws Exception {
    for (var field : DrafterOptions.class.getFields()) {
      ConfigOption<?> option = (ConfigOption<?>) field.get(null);
      assertThat(option.key()).startsWith("drafter.");
      assertThat(option.description().toString()).isNotEmpty();
    }
  }
}
