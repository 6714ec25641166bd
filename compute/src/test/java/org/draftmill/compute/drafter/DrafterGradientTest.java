package org.draftmill.compute.drafter;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.OptionalInt;
import java.util.Random;
import org.draftmill.compute.Backends;
import org.draftmill.compute.drafter.ParameterLayout.Parameter;
import org.draftmill.compute.ops.Backend;
import org.draftmill.compute.ops.FixedPoint;
import org.draftmill.compute.ops.HeadLoss;
import org.draftmill.compute.ops.Heads;
import org.draftmill.compute.ops.Workspace;
import org.draftmill.compute.target.Rope;
import org.draftmill.compute.target.Taps;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The gradient of the whole model against differences of the loss, tensor by tensor. */
class DrafterGradientTest {
  private static final double STEP = 4e-3;

  @ParameterizedTest(name = "{0}, {1} layers, block {2}")
  @CsvSource({"reference,1,2", "reference,3,5", "cpu,1,8", "cpu,2,5"})
  void agreesWithDifferencesOfTheLoss(String backendName, int layers, int blockSize) {
    DrafterConfig config = config(layers, blockSize);
    ParameterLayout layout = new ParameterLayout(config);
    Microbatch microbatch = TestingMicrobatches.random(config, 8, 11, 1, 5, 19);
    float[] weights = new Initializer(5).weights(config, layout);
    DrafterSettings settings =
        new DrafterSettings(
            42,
            10,
            6,
            new HeadLoss.Settings(true, 1.7f, 0.4f, 3f, Float.NaN, 0f),
            OptimizerSettings.DEFAULTS,
            40,
            1);
    try (Backend backend = Backends.open(backendName, 2);
        Workspace workspace = backend.workspace();
        DrafterTrainer trainer =
            new DrafterTrainer(
                backend,
                TestingDrafters.model(backend, workspace, config, weights),
                settings,
                weights,
                0,
                1)) {
      trainer.accumulate(microbatch);
      long[] sums = trainer.snapshot().gradientSums();
      Random random = new Random(4);
      for (Parameter parameter : layout.parameters()) {
        double[] direction = direction(parameter, sums, random);
        double slope = 0;
        double length = 0;
        for (int i = 0; i < direction.length; i++) {
          double gradient = sums[parameter.offset() + i] * FixedPoint.UNIT;
          slope += gradient * direction[i];
          length += gradient * gradient;
        }
        double difference =
            (lossAt(trainer, microbatch, parameter, direction, STEP)
                    - lossAt(trainer, microbatch, parameter, direction, -STEP))
                / (2 * STEP);
        assertThat(Math.abs(difference - slope))
            .as("%s: slope %s, difference %s", parameter.name(), slope, difference)
            .isLessThan(5e-3 * Math.sqrt(length) + 5e-3);
      }
    }
  }

  /** Of length 1, half along the gradient so that there is something to see, half at random. */
  private static double[] direction(Parameter parameter, long[] sums, Random random) {
    double[] direction = random.doubles(parameter.size(), -1, 1).toArray();
    double gradientLength = 0;
    double randomLength = 0;
    for (int i = 0; i < direction.length; i++) {
      gradientLength += Math.pow(sums[parameter.offset() + i], 2);
      randomLength += direction[i] * direction[i];
    }
    double length = 0;
    for (int i = 0; i < direction.length; i++) {
      direction[i] =
          direction[i] / Math.sqrt(randomLength)
              + sums[parameter.offset() + i] / Math.sqrt(gradientLength);
      length += direction[i] * direction[i];
    }
    for (int i = 0; i < direction.length; i++) {
      direction[i] /= Math.sqrt(length);
    }
    return direction;
  }

  private static double lossAt(
      DrafterTrainer trainer,
      Microbatch microbatch,
      Parameter parameter,
      double[] direction,
      double step) {
    float[] original = trainer.weights().clone();
    float[] weights = trainer.weights();
    for (int i = 0; i < direction.length; i++) {
      weights[parameter.offset() + i] += (float) (step * direction[i]);
    }
    trainer.setWeights(weights);
    double loss = trainer.accumulate(microbatch).numerator();
    trainer.setWeights(original);
    return loss;
  }

  private static DrafterConfig config(int layers, int blockSize) {
    List<Boolean> sliding = List.of(layers > 1, false, false).subList(0, layers);
    return new DrafterConfig(
        14,
        18,
        new Heads(4, 2, 6),
        19,
        8,
        Taps.of(1, 4),
        blockSize,
        18,
        sliding,
        layers > 1 ? 3 : 0,
        1e-6f,
        new Rope(10_000, new Rope.Unscaled()),
        512,
        OptionalInt.empty(),
        List.of());
  }
}
