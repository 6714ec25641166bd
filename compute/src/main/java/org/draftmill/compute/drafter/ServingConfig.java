package org.draftmill.compute.drafter;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.util.DefaultIndenter;
import com.fasterxml.jackson.core.util.DefaultPrettyPrinter;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.OptionalInt;
import org.draftmill.compute.InputException;
import org.draftmill.compute.io.JsonConfig;
import org.draftmill.compute.ops.Heads;
import org.draftmill.compute.target.Rope;
import org.draftmill.compute.target.Taps;

/**
 * The drafter's {@code config.json} as serving engines read it (DFlash of z-lab, vLLM, SGLang).
 * {@code block_size} stands at the top in older files and under {@code dflash_config} in newer
 * ones: both are accepted, both are written.
 */
final class ServingConfig {
  static final String FILE = "config.json";

  private static final String ARCHITECTURE = "DFlashDraftModel";
  private static final String DETAILS = "dflash_config";
  private static final String SLIDING = "sliding_attention";
  private static final String FULL = "full_attention";
  private static final int MAX = 1 << 20;
  private static final ObjectMapper JSON = new ObjectMapper();

  private ServingConfig() {}

  /** The content of {@code config.json}, ending with a line feed. */
  static String write(DrafterConfig config) {
    ObjectNode json = JSON.createObjectNode();
    json.putArray("architectures").add(ARCHITECTURE);
    json.put("attention_bias", false);
    json.put("attention_dropout", 0.0);
    json.putObject("auto_map").put("AutoModel", "dflash." + ARCHITECTURE);
    json.put("block_size", config.blockSize());
    config
        .beginOfText()
        .ifPresentOrElse(id -> json.put("bos_token_id", id), () -> json.putNull("bos_token_id"));
    ObjectNode details = json.putObject(DETAILS);
    details.put("block_size", config.blockSize());
    details.put("mask_token_id", config.maskToken());
    ArrayNode taps = details.putArray("target_layer_ids");
    config.taps().layers().forEach(taps::add);
    json.put("dtype", "bfloat16");
    endOfText(json, config.endOfText());
    json.put("head_dim", config.heads().headDim());
    json.put("hidden_act", "silu");
    json.put("hidden_size", config.hiddenSize());
    json.put("initializer_range", 0.02);
    json.put("intermediate_size", config.intermediateSize());
    ArrayNode layers = json.putArray("layer_types");
    config.slidingLayers().forEach(sliding -> layers.add(sliding ? SLIDING : FULL));
    json.put("max_position_embeddings", config.maxPositions());
    json.put("max_window_layers", config.layers());
    json.put("model_type", "qwen3");
    json.put("num_attention_heads", config.heads().queryHeads());
    json.put("num_hidden_layers", config.layers());
    json.put("num_key_value_heads", config.heads().keyValueHeads());
    json.put("num_target_layers", config.targetLayers());
    json.put("rms_norm_eps", Double.parseDouble(Float.toString(config.rmsNormEps())));
    ropeScaling(json, config.rope().scaling());
    json.put("rope_theta", config.rope().theta());
    if (config.slidingWindow() > 0) {
      json.put("sliding_window", config.slidingWindow());
    } else {
      json.putNull("sliding_window");
    }
    json.put("tie_word_embeddings", false);
    json.put("use_cache", true);
    json.put("use_sliding_window", config.slidingWindow() > 0);
    json.put("vocab_size", config.vocabularySize());
    return text(json);
  }

  private static void endOfText(ObjectNode json, List<Integer> ids) {
    switch (ids.size()) {
      case 0 -> json.putNull("eos_token_id");
      case 1 -> json.put("eos_token_id", ids.get(0));
      default -> ids.forEach(json.putArray("eos_token_id")::add);
    }
  }

  private static void ropeScaling(ObjectNode json, Rope.Scaling scaling) {
    if (scaling instanceof Rope.Unscaled) {
      json.putNull("rope_scaling");
      return;
    }
    ObjectNode node = json.putObject("rope_scaling").put("rope_type", scaling.type());
    if (scaling instanceof Rope.Linear linear) {
      node.put("factor", linear.factor());
    } else if (scaling instanceof Rope.Llama3 llama3) {
      node.put("factor", llama3.factor());
      node.put("low_freq_factor", llama3.lowFrequencyFactor());
      node.put("high_freq_factor", llama3.highFrequencyFactor());
      node.put("original_max_position_embeddings", llama3.originalPositions());
    }
  }

  private static String text(ObjectNode json) {
    DefaultPrettyPrinter printer = new DefaultPrettyPrinter();
    printer.indentArraysWith(DefaultPrettyPrinter.FixedSpaceIndenter.instance);
    printer.indentObjectsWith(new DefaultIndenter("  ", "\n"));
    try {
      return JSON.writer(printer).writeValueAsString(json) + "\n";
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("a tree of numbers and texts is always writable", e);
    }
  }

  /** Reads a drafter's configuration and refuses what serving engines would refuse. */
  static DrafterConfig read(JsonConfig json) {
    if (json.has("architectures") && !json.texts("architectures").contains(ARCHITECTURE)) {
      throw new InputException(
          "%s: describes the architecture %s; a drafter is a %s."
              .formatted(json.path(), json.texts("architectures"), ARCHITECTURE));
    }
    String activation = json.optionalText("hidden_act").orElse("silu");
    if (!activation.equals("silu") || json.flag("attention_bias", false)) {
      throw new InputException(
          "%s: 'hidden_act' is '%s' and 'attention_bias' %s; drafters have silu and no biases."
              .formatted(json.path(), activation, json.flag("attention_bias", false)));
    }
    JsonConfig details =
        json.object(DETAILS)
            .orElseThrow(
                () -> new InputException(json.path() + ": has no '" + DETAILS + "' object."));
    List<Boolean> sliding = slidingLayers(json);
    try {
      return new DrafterConfig(
          json.integer("hidden_size", 1, MAX),
          json.integer("intermediate_size", 1, MAX),
          new Heads(
              json.integer("num_attention_heads", 1, MAX),
              json.integer("num_key_value_heads", 1, MAX),
              json.integer("head_dim", 1, MAX)),
          json.integer("vocab_size", 1, Integer.MAX_VALUE),
          json.integer("num_target_layers", 1, MAX),
          Taps.of(details.integers("target_layer_ids")),
          blockSize(json, details),
          details.integer("mask_token_id", 0, Integer.MAX_VALUE),
          sliding,
          sliding.contains(true) ? json.integer("sliding_window", 1, Integer.MAX_VALUE) : 0,
          (float) json.number("rms_norm_eps", 1e-6),
          Rope.read(json),
          json.integer("max_position_embeddings", 1, Integer.MAX_VALUE),
          json.has("bos_token_id")
              ? OptionalInt.of(json.integer("bos_token_id", 0, Integer.MAX_VALUE))
              : OptionalInt.empty(),
          json.has("eos_token_id")
              ? Arrays.stream(json.integers("eos_token_id")).boxed().toList()
              : List.of());
    } catch (InputException | IllegalArgumentException e) {
      String place = json.path().toString();
      if (e.getMessage().startsWith(place)) {
        throw e;
      }
      throw new InputException(place + ": " + e.getMessage(), e);
    }
  }

  private static int blockSize(JsonConfig json, JsonConfig details) {
    String key = "block_size";
    int outside = json.integer(key, 2, MAX, 0);
    int inside = details.integer(key, 2, MAX, outside);
    if (inside == 0 || outside != 0 && outside != inside) {
      throw new InputException(
          inside == 0
              ? json.path() + ": has no 'block_size', neither at the top nor in 'dflash_config'."
              : "%s: 'block_size' is %d at the top but %d in 'dflash_config'."
                  .formatted(json.path(), outside, inside));
    }
    return inside;
  }

  private static List<Boolean> slidingLayers(JsonConfig json) {
    int layers = json.integer("num_hidden_layers", 1, MAX);
    if (!json.has("layer_types")) {
      return Collections.nCopies(layers, false);
    }
    List<String> types = json.texts("layer_types");
    for (String type : types) {
      if (!type.equals(SLIDING) && !type.equals(FULL)) {
        throw new InputException(
            "%s: 'layer_types' names '%s'; layers can be '%s' or '%s'."
                .formatted(json.path(), type, FULL, SLIDING));
      }
    }
    if (types.size() != layers) {
      throw new InputException(
          "%s: 'layer_types' has %d entries for %d layers."
              .formatted(json.path(), types.size(), layers));
    }
    return types.stream().map(SLIDING::equals).toList();
  }
}
