package org.draftmill.operators.target;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.util.InstantiationUtil;
import org.draftmill.compute.InputException;
import org.draftmill.serializers.HiddenDType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TargetSettingsTest {
  private static final TargetSettings.Run RUN = new TargetSettings.Run("data", 2, true, 3);

  private static TargetSettings from(Map<String, String> options) {
    Configuration config = Configuration.fromMap(options);
    if (!options.containsKey("target.model")) {
      config.set(TargetOptions.MODEL, TestingModel.folder().toString());
    }
    return TargetSettings.from(config, RUN);
  }

  @Test
  void defaultsComeFromTheModelAndTheRun() throws Exception {
    TargetSettings settings = from(Map.of());

    assertThat(settings.taps()).containsExactly(1, 2);
    assertThat(settings.threads()).isEqualTo(3);
    assertThat(settings.dataset()).isEqualTo("data");
    assertThat(settings.finalStates()).isTrue();
    assertThat(settings.hiddenDtype()).isEqualTo(HiddenDType.BFLOAT16);
    assertThat(settings.chunkBytes()).isEqualTo(4 << 20);
    assertThat(InstantiationUtil.clone(settings)).isEqualTo(settings);
  }

  @Test
  void optionsSayOtherwise() {
    TargetSettings settings =
        from(
            Map.of(
                "target.taps", "0, 3",
                "target.threads", "7",
                "target.hidden-dtype", "float16",
                "target.chunk-size", "4kb"));

    assertThat(settings.taps()).containsExactly(0, 3);
    assertThat(settings.threads()).isEqualTo(7);
    assertThat(settings.hiddenDtype()).isEqualTo(HiddenDType.FLOAT16);
    assertThat(settings.chunkBytes()).isEqualTo(4 << 10);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "target.device|tpu|target.device is 'tpu'; known are auto, cuda, cpu, reference.",
        "target.threads|0|target.threads is 0; it must be at least 1.",
        "target.retries|-1|target.retries is -1; it must be at least 0.",
        "target.timeout|0 ms|target.timeout is PT0S; it must be at least 1 ms.",
        "target.taps|1,9|the layer 9",
        "target.taps|last|target.taps is 'last'",
        "target.chunk-size|300 b|one row of 2 taps and a final state of 48 bfloat16 values takes 409 bytes",
        "target.model|no/such/folder|no/such/folder",
      })
  void whatCannotBeIsRefusedByName(String option, String value, String message) {
    assertThatThrownBy(() -> from(Map.of(option, value)))
        .isInstanceOf(InputException.class)
        .hasMessageContaining(message);
  }

  @Test
  void aMissingModelIsAskedFor() {
    assertThatThrownBy(() -> TargetSettings.from(new Configuration(), RUN))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("target.model is missing");
  }
}
