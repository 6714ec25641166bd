package org.draftmill.compute.target;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.draftmill.compute.InputException;
import org.draftmill.compute.io.JsonConfig;

/**
 * The decoder families that can be a target. All are pre-norm decoders with grouped-query
 * attention, rotary embedding and SwiGLU; they differ in what the constants say.
 */
public enum Family {
  LLAMA("LlamaForCausalLM", "llama"),
  MISTRAL("MistralForCausalLM", "mistral"),
  QWEN2("Qwen2ForCausalLM", "qwen2"),
  QWEN3("Qwen3ForCausalLM", "qwen3");

  /** Hugging Face's {@code sliding_window} where a configuration does not have the key. */
  private static final int DEFAULT_WINDOW = 4096;

  private final String architecture;
  private final String modelType;

  Family(String architecture, String modelType) {
    this.architecture = architecture;
    this.modelType = modelType;
  }

  /** The name under {@code architectures} in {@code config.json}. */
  public String architecture() {
    return architecture;
  }

  static Family read(JsonConfig config) {
    List<String> names = config.has("architectures") ? config.texts("architectures") : List.of();
    String modelType = config.optionalText("model_type").orElse("");
    return Arrays.stream(values())
        .filter(
            family ->
                names.isEmpty()
                    ? family.modelType.equals(modelType)
                    : names.get(0).equals(family.architecture))
        .findFirst()
        .orElseThrow(
            () ->
                new InputException(
                    "%s: describes the architecture '%s'; targets can be %s."
                        .formatted(
                            config.path(),
                            names.isEmpty() ? modelType : names.get(0),
                            Arrays.stream(values())
                                .map(Family::architecture)
                                .collect(Collectors.joining(", ")))));
  }

  /** Whether queries and keys are normed head by head. */
  boolean queryKeyNorm() {
    return this == QWEN3;
  }

  /** Whether the projections to queries, keys and values have biases. */
  boolean queryKeyValueBias(JsonConfig config) {
    return switch (this) {
      case QWEN2 -> true;
      case MISTRAL -> false;
      case LLAMA, QWEN3 -> config.flag("attention_bias", false);
    };
  }

  /** Whether the projection back from the heads has a bias. */
  boolean outputBias(JsonConfig config) {
    return (this == LLAMA || this == QWEN3) && config.flag("attention_bias", false);
  }

  /** Columns of a head where {@code head_dim} is not given. */
  int defaultHeadDim(int hidden, int queryHeads) {
    return this == QWEN3 ? 128 : hidden / queryHeads;
  }

  /**
   * The window of every layer, 0 where it sees all that came before: {@code layer_types} where they
   * are given; else all layers of a Mistral with a {@code sliding_window}; else, with {@code
   * use_sliding_window}, the layers from {@code max_window_layers} on. A {@code sliding_window} of
   * null is none, one that is not there is Hugging Face's default.
   */
  int[] windows(JsonConfig config, int layers) {
    int absent = config.keys().contains("sliding_window") ? 0 : DEFAULT_WINDOW;
    int window = config.integer("sliding_window", 1, Integer.MAX_VALUE, absent);
    boolean used = this == MISTRAL || config.flag("use_sliding_window", false);
    int[] windows = new int[layers];
    if (config.has("layer_types")) {
      List<String> types = config.texts("layer_types");
      if (types.size() != layers) {
        throw new InputException(
            "%s: 'layer_types' has %d entries for %d layers."
                .formatted(config.path(), types.size(), layers));
      }
      for (int layer = 0; layer < layers; layer++) {
        windows[layer] = window(config, types.get(layer), used ? window : 0);
      }
    } else if (used && window > 0 && this != LLAMA) {
      int full =
          this == MISTRAL ? 0 : config.integer("max_window_layers", 0, Integer.MAX_VALUE, 28);
      Arrays.fill(windows, Math.min(full, layers), layers, window);
    }
    return windows;
  }

  private static int window(JsonConfig config, String type, int window) {
    if (type.equals("full_attention")) {
      return 0;
    }
    if (!type.equals("sliding_attention")) {
      throw new InputException(
          "%s: 'layer_types' names '%s'; layers can be 'full_attention' or 'sliding_attention'."
              .formatted(config.path(), type));
    }
    if (window == 0) {
      throw new InputException(
          "%s: 'layer_types' names sliding layers, but no 'sliding_window' is in use."
              .formatted(config.path()));
    }
    return window;
  }
}
