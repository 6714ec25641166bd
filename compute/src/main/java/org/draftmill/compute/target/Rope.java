package org.draftmill.compute.target;

import java.util.Optional;
import org.draftmill.compute.InputException;
import org.draftmill.compute.io.JsonConfig;
import org.draftmill.compute.ops.RopeTable;

/**
 * The rotary embedding that a {@code config.json} describes, in the older layout ({@code
 * rope_theta} with {@code rope_scaling}) or the newer one ({@code rope_parameters}).
 *
 * @param theta base of the frequencies
 * @param scaling how they are stretched for long contexts
 */
public record Rope(double theta, Scaling scaling) {

  /** Stretches the frequencies of {@link Rope}. */
  public sealed interface Scaling permits Unscaled, Linear, Llama3 {
    /** The name under {@code rope_type}. */
    String type();

    double apply(double inverseFrequency);
  }

  public record Unscaled() implements Scaling {
    @Override
    public String type() {
      return "default";
    }

    @Override
    public double apply(double inverseFrequency) {
      return inverseFrequency;
    }
  }

  /** All positions are divided by {@code factor}. */
  public record Linear(double factor) implements Scaling {
    @Override
    public String type() {
      return "linear";
    }

    @Override
    public double apply(double inverseFrequency) {
      return inverseFrequency / factor;
    }
  }

  /**
   * Llama 3.1: waves longer than {@code originalPositions/lowFrequencyFactor} are stretched by
   * {@code factor}, those shorter than {@code originalPositions/highFrequencyFactor} are kept, and
   * between the two it is interpolated.
   */
  public record Llama3(
      double factor,
      double lowFrequencyFactor,
      double highFrequencyFactor,
      double originalPositions)
      implements Scaling {
    @Override
    public String type() {
      return "llama3";
    }

    @Override
    public double apply(double inverseFrequency) {
      double turns = originalPositions * inverseFrequency / (2 * Math.PI);
      double kept = (turns - lowFrequencyFactor) / (highFrequencyFactor - lowFrequencyFactor);
      double bounded = Math.max(0, Math.min(1, kept));
      return bounded * inverseFrequency + (1 - bounded) * inverseFrequency / factor;
    }
  }

  /** Reads the rotary embedding of a {@code config.json}. */
  public static Rope read(JsonConfig config) {
    Optional<JsonConfig> parameters = config.object("rope_parameters");
    Optional<JsonConfig> scaling =
        parameters.isPresent() ? parameters : config.object("rope_scaling");
    double theta =
        parameters
            .filter(found -> found.has("rope_theta"))
            .orElse(config)
            .number("rope_theta", 10000);
    double rotated =
        scaling
            .filter(found -> found.has("partial_rotary_factor"))
            .orElse(config)
            .number("partial_rotary_factor", 1);
    if (theta <= 0 || rotated != 1) {
      throw new InputException(
          "%s: has 'rope_theta' %s and 'partial_rotary_factor' %s; the first must be positive and the second 1."
              .formatted(config.path(), theta, rotated));
    }
    return new Rope(theta, scaling.map(found -> scaling(found, config)).orElse(new Unscaled()));
  }

  private static Scaling scaling(JsonConfig scaling, JsonConfig config) {
    String type =
        scaling
            .optionalText("rope_type")
            .or(() -> scaling.optionalText("type"))
            .orElseThrow(
                () ->
                    new InputException(
                        "%s: its rotary embedding has no 'rope_type'; per-layer parameters are not supported."
                            .formatted(config.path())));
    return switch (type) {
      case "default" -> new Unscaled();
      case "linear" -> new Linear(positive(scaling, "factor"));
      case "llama3" -> llama3(scaling, config);
      default ->
          throw new InputException(
              "%s: has the 'rope_type' '%s'; supported are default, linear and llama3."
                  .formatted(config.path(), type));
    };
  }

  private static Llama3 llama3(JsonConfig scaling, JsonConfig config) {
    String original = "original_max_position_embeddings";
    Llama3 llama3 =
        new Llama3(
            positive(scaling, "factor"),
            positive(scaling, "low_freq_factor"),
            positive(scaling, "high_freq_factor"),
            scaling.has(original)
                ? positive(scaling, original)
                : positive(config, "max_position_embeddings"));
    if (llama3.lowFrequencyFactor() >= llama3.highFrequencyFactor()) {
      throw new InputException(
          "%s: 'low_freq_factor' is %s and 'high_freq_factor' %s; the first must be less."
              .formatted(config.path(), llama3.lowFrequencyFactor(), llama3.highFrequencyFactor()));
    }
    return llama3;
  }

  private static double positive(JsonConfig config, String key) {
    double value = config.number(key);
    if (!(value > 0) || Double.isInfinite(value)) {
      throw new InputException(
          "%s: '%s' is %s, which must be positive.".formatted(config.path(), key, value));
    }
    return value;
  }

  /**
   * The frequencies {@code theta^(−2j/headDim)}, scaled; rounded to float as every serving engine
   * holds them, so that far positions turn by the same angles.
   */
  public RopeTable table(int headDim) {
    double[] inverseFrequency = new double[headDim / 2];
    for (int j = 0; j < inverseFrequency.length; j++) {
      inverseFrequency[j] = (float) scaling.apply(Math.pow(theta, -2.0 * j / headDim));
    }
    return new RopeTable(inverseFrequency, 1);
  }
}
