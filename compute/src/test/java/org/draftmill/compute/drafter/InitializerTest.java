package org.draftmill.compute.drafter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.draftmill.compute.ops.Heads;
import org.draftmill.compute.target.Taps;
import org.junit.jupiter.api.Test;

class InitializerTest {
  @Test
  void normsAreOneAndMatricesOfTheScaleOfTheirFanIn() {
    DrafterConfig config =
        TestingDrafters.config(2, Taps.of(1, 4), 4, new Heads(8, 4, 32), 256, 300, 50);
    ParameterLayout layout = new ParameterLayout(config);
    float[] weights = new Initializer(3).weights(config, layout);
    for (ParameterLayout.Parameter parameter : layout.parameters()) {
      double sum = 0;
      double squares = 0;
      for (int i = parameter.offset(); i < parameter.offset() + parameter.size(); i++) {
        sum += weights[i];
        squares += weights[i] * (double) weights[i];
      }
      double n = parameter.size();
      if (parameter.matrix()) {
        double deviation = 0.6 / Math.sqrt(parameter.columns());
        assertThat(sum / n).isCloseTo(0, within(5 * deviation / Math.sqrt(n)));
        assertThat(Math.sqrt(squares / n))
            .isCloseTo(deviation, within(4 * deviation / Math.sqrt(n)));
      } else {
        assertThat(sum).isEqualTo(n);
        assertThat(squares).isEqualTo(n);
      }
    }
  }

  @Test
  void largeModelsUseTheUsualDeviation() {
    DrafterConfig config =
        TestingDrafters.config(1, Taps.of(1), 4, new Heads(2, 1, 32), 640, 64, 50);
    ParameterLayout layout = new ParameterLayout(config);
    float[] weights = new Initializer(3).weights(config, layout);
    double squares = 0;
    for (int i = 0; i < layout.fc().size(); i++) {
      squares += weights[i] * (double) weights[i];
    }
    assertThat(Math.sqrt(squares / layout.fc().size())).isCloseTo(0.02, within(2e-4));
  }

  @Test
  void aDeeperDrafterBeginsWithTheSameFirstLayers() {
    DrafterConfig shallow = TestingDrafters.config(1, Taps.of(1), 4);
    DrafterConfig deep = TestingDrafters.config(3, Taps.of(1), 4);
    ParameterLayout shallowLayout = new ParameterLayout(shallow);
    ParameterLayout deepLayout = new ParameterLayout(deep);
    float[] one = new Initializer(9).weights(shallow, shallowLayout);
    float[] other = new Initializer(9).weights(deep, deepLayout);
    for (ParameterLayout.Parameter parameter : shallowLayout.parameters()) {
      int offset = deepLayout.find(parameter.name()).offset();
      for (int i = 0; i < parameter.size(); i++) {
        assertThat(other[offset + i]).isEqualTo(one[parameter.offset() + i]);
      }
    }
    assertThat(new Initializer(10).weights(shallow, shallowLayout)).isNotEqualTo(one);
  }

  @Test
  void theQuantileIsThatOfTheNormalDistribution() {
    assertThat(NormalQuantile.of(0.5)).isZero();
    assertThat(NormalQuantile.of(0.975)).isCloseTo(1.959963984540054, within(1e-15));
    assertThat(NormalQuantile.of(0.001)).isCloseTo(-3.090232306167814, within(1e-14));
    assertThat(NormalQuantile.of(1e-20)).isCloseTo(-9.262340089798408, within(1e-13));
  }
}
