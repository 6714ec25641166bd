package org.draftmill.corpus.text;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;
import org.draftmill.corpus.InputException;
import org.draftmill.corpus.io.BoundedFile;
import org.draftmill.corpus.io.InputFile;

/**
 * What the JSON files of a target's folder say about its text. Files that are missing say nothing.
 */
final class TargetConfig {
  private static final List<String> SPECIAL_TOKENS =
      List.of(
          "bos_token",
          "eos_token",
          "unk_token",
          "sep_token",
          "pad_token",
          "cls_token",
          "mask_token");

  private final Path target;
  private final JsonNode tokenizerConfig;
  private final JsonNode specialTokensMap;
  private final JsonNode modelConfig;
  private final JsonNode generationConfig;

  /**
   * @throws InputException if a file is no JSON object
   */
  TargetConfig(Path target) throws IOException {
    this.target = target;
    this.tokenizerConfig = read("tokenizer_config.json");
    this.specialTokensMap = read("special_tokens_map.json");
    this.modelConfig = read("config.json");
    this.generationConfig = read("generation_config.json");
  }

  /** A file of the folder; missing if there is none. */
  JsonNode read(String name) throws IOException {
    Path file = target.resolve(name);
    if (!InputFile.isNamed(file)) {
      return MissingNode.getInstance();
    }
    try {
      JsonNode content = new ObjectMapper().readTree(BoundedFile.bytes(file, BoundedFile.SMALL));
      if (!content.isObject()) {
        throw new InputException(file + " holds no JSON object.");
      }
      return content;
    } catch (JsonProcessingException e) {
      throw new InputException(file + " is no JSON: " + e.getOriginalMessage(), e);
    }
  }

  JsonNode tokenizerConfig() {
    return tokenizerConfig;
  }

  /** The special tokens that are set, by name, as chat templates see them. */
  Map<String, Object> specialTokens() {
    Map<String, Object> tokens = new LinkedHashMap<>();
    for (String name : SPECIAL_TOKENS) {
      String spelling = spelling(tokenizerConfig.path(name));
      if (spelling == null && !tokenizerConfig.has(name)) {
        spelling = spelling(specialTokensMap.path(name));
      }
      if (spelling != null) {
        tokens.put(name, spelling);
      }
    }
    List<Object> additional = new ArrayList<>();
    tokenizerConfig
        .path("additional_special_tokens")
        .forEach(token -> additional.add(spelling(token)));
    if (!additional.isEmpty()) {
      tokens.put("additional_special_tokens", additional);
    }
    return tokens;
  }

  private static String spelling(JsonNode token) {
    JsonNode content = token.isObject() ? token.path("content") : token;
    return content.isTextual() ? content.asText() : null;
  }

  /** The tokens at which the model stops: those of all files together. */
  SortedSet<Integer> stopTokens(TextTokenizer tokenizer) {
    SortedSet<Integer> stops = new TreeSet<>();
    for (JsonNode config :
        List.of(generationConfig, modelConfig, modelConfig.path("text_config"))) {
      JsonNode ids = config.path("eos_token_id");
      if (ids.isInt()) {
        stops.add(ids.asInt());
      }
      ids.forEach(id -> stops.add(id.asInt()));
    }
    if (specialTokens().get("eos_token") instanceof String spelling) {
      tokenizer.addedToken(spelling).ifPresent(stops::add);
    }
    return stops;
  }

  /** The most tokens that the model can read; 0 if it is not said. */
  int maxPositions() {
    return modelConfig
        .path("max_position_embeddings")
        .asInt(modelConfig.path("text_config").path("max_position_embeddings").asInt(0));
  }
}
