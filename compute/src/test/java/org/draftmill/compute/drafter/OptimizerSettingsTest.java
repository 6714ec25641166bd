package org.draftmill.compute.drafter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import org.draftmill.compute.InputException;
import org.draftmill.compute.drafter.OptimizerSettings.Schedule;
import org.junit.jupiter.api.Test;

class OptimizerSettingsTest {
  private static OptimizerSettings settings(Schedule schedule) {
    return new OptimizerSettings(2.0, 0.1, schedule, 0.25, 0, 1, 0.9, 0.95, 1e-8);
  }

  @Test
  void warmsUpLinearlyFromTheFirstStep() {
    OptimizerSettings settings = settings(Schedule.CONSTANT);
    assertThat(settings.learningRate(0, 100)).isCloseTo(0.2, within(1e-15));
    assertThat(settings.learningRate(4, 100)).isCloseTo(1.0, within(1e-15));
    assertThat(settings.learningRate(9, 100)).isEqualTo(2.0);
    assertThat(settings.learningRate(99, 100)).isEqualTo(2.0);
  }

  @Test
  void cosineStartsAtTheTopAndEndsNearZero() {
    OptimizerSettings settings = settings(Schedule.COSINE);
    assertThat(settings.learningRate(10, 100)).isEqualTo(2.0);
    assertThat(settings.learningRate(55, 100)).isCloseTo(1.0, within(1e-15));
    assertThat(settings.learningRate(99, 100)).isBetween(0.0, 0.002);
    assertThat(settings.learningRate(100, 100)).isZero();
    assertThat(settings.learningRate(130, 100)).isZero();
  }

  @Test
  void wsdStaysAndThenDecays() {
    OptimizerSettings settings = settings(Schedule.WSD);
    assertThat(settings.learningRate(75, 100)).isEqualTo(2.0);
    assertThat(settings.learningRate(90, 100)).isCloseTo(0.8, within(1e-15));
    assertThat(settings.learningRate(99, 100)).isCloseTo(0.08, within(1e-15));
  }

  @Test
  void aRunOfOneStepLearns() {
    for (Schedule schedule : Schedule.values()) {
      assertThat(settings(schedule).learningRate(0, 1)).isPositive();
    }
  }

  @Test
  void refusesWhatCannotWork() {
    assertThatThrownBy(
            () -> new OptimizerSettings(Double.NaN, 0, Schedule.WSD, 0, 0, 1, 0.9, 0.95, 1e-8))
        .isInstanceOf(InputException.class)
        .hasMessage("drafter.optimizer.lr is NaN, but it must be positive.");
    assertThatThrownBy(() -> new OptimizerSettings(1, 0, Schedule.WSD, 0, 0, 1, 0.9, 1.0, 1e-8))
        .hasMessageContaining("drafter.optimizer.betas is 1.0");
  }
}
