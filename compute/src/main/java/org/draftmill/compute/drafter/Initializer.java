package org.draftmill.compute.drafter;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.draftmill.compute.InputException;
import org.draftmill.compute.drafter.ParameterLayout.Parameter;

/**
 * First values of the weights: matrices normal with deviation 0.02, or {@code 0.6/√fan_in} in small
 * models (hidden size up to 512), norms 1. Each value is a function of the seed, the tensor's name
 * and the element's index alone, so a drafter with more layers begins with the same values in those
 * it shares.
 */
public final class Initializer {
  private static final int SMALL_HIDDEN_SIZE = 512;

  private final long seed;

  public Initializer(long seed) {
    this.seed = seed;
  }

  /** All weights of a new drafter, {@code [layout.size()]}. */
  public float[] weights(DrafterConfig config, ParameterLayout layout) {
    float[] weights = new float[layout.size()];
    boolean small = config.hiddenSize() <= SMALL_HIDDEN_SIZE;
    for (Parameter parameter : layout.parameters()) {
      if (parameter.matrix()) {
        double deviation = small ? 0.6 / Math.sqrt(parameter.columns()) : 0.02;
        normal(parameter, deviation, weights);
      } else {
        Arrays.fill(weights, parameter.offset(), parameter.offset() + parameter.size(), 1f);
      }
    }
    return weights;
  }

  /**
   * The weights of a given drafter, for {@code drafter.init}.
   *
   * @param folder an exported drafter
   * @throws InputException when it is of another shape
   */
  public static float[] copy(Path folder, DrafterConfig config) {
    DrafterExport.Exported given = DrafterExport.read(folder);
    List<Parameter> wanted = new ParameterLayout(config).parameters();
    List<Parameter> found = new ParameterLayout(given.config()).parameters();
    for (int i = 0; i < Math.min(wanted.size(), found.size()); i++) {
      if (!wanted.get(i).equals(found.get(i))) {
        throw new InputException(
            "%s: cannot be the start of this drafter: its tensor %s is %s, where %s %s is needed."
                .formatted(
                    folder,
                    found.get(i).name(),
                    Arrays.toString(found.get(i).shape()),
                    wanted.get(i).name(),
                    Arrays.toString(wanted.get(i).shape())));
      }
    }
    if (wanted.size() != found.size()) {
      throw new InputException(
          "%s: cannot be the start of this drafter: it has %d layers, not %d."
              .formatted(folder, given.config().layers(), config.layers()));
    }
    return given.weights();
  }

  private void normal(Parameter parameter, double deviation, float[] weights) {
    CounterRandom random = CounterRandom.of(seed, parameter.name());
    IntStream.range(0, parameter.rows())
        .parallel()
        .forEach(
            row -> {
              int first = row * parameter.columns();
              for (int i = first; i < first + parameter.columns(); i++) {
                weights[parameter.offset() + i] =
                    (float) (deviation * NormalQuantile.of(random.uniform(i)));
              }
            });
  }
}
