package org.draftmill.job.train;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.OptionalInt;
import org.draftmill.compute.InputException;
import org.draftmill.corpus.io.BoundedFile;
import org.draftmill.corpus.io.InputFile;

/**
 * Which ids a target's tokenizer uses, from its {@code tokenizer.json}, and its mask token, from
 * {@code tokenizer_config.json} if that names one.
 */
final class TokenizerVocabulary {
  private final BitSet used = new BitSet();
  private final OptionalInt maskToken;

  private TokenizerVocabulary(JsonNode tokenizer, JsonNode config) {
    JsonNode vocabulary = tokenizer.path("model").path("vocab");
    if (vocabulary.isArray()) {
      used.set(0, vocabulary.size()); // pairs of token and score, in the order of their ids
    } else {
      vocabulary.forEach(this::use);
    }
    JsonNode name = config.path("mask_token");
    String mask = name.isObject() ? name.path("content").asText() : name.asText(null);
    OptionalInt found = OptionalInt.empty();
    for (JsonNode token : tokenizer.path("added_tokens")) {
      use(token.path("id"));
      if (token.path("content").asText().equals(mask)) {
        found = OptionalInt.of(token.path("id").asInt());
      }
    }
    JsonNode inVocabulary = mask == null ? null : vocabulary.get(mask);
    if (found.isEmpty() && inVocabulary != null && inVocabulary.isInt()) {
      found = OptionalInt.of(inVocabulary.asInt());
    }
    maskToken = found;
  }

  /** Reads the tokenizer of the model in {@code folder}. */
  static TokenizerVocabulary read(Path folder) {
    return new TokenizerVocabulary(
        json(folder.resolve("tokenizer.json"), true),
        json(folder.resolve("tokenizer_config.json"), false));
  }

  private static JsonNode json(Path file, boolean required) {
    ObjectMapper json = new ObjectMapper();
    if (!required && !InputFile.isNamed(file)) {
      return json.createObjectNode();
    }
    try {
      return json.readTree(BoundedFile.bytes(file, BoundedFile.TOKENIZER));
    } catch (IOException e) {
      String why = e instanceof JacksonException bad ? bad.getOriginalMessage() : e.getMessage();
      throw new InputException("Cannot read the target's " + file + ": " + why + ".", e);
    }
  }

  private void use(JsonNode id) {
    if (id.canConvertToInt() && id.asInt() >= 0) {
      used.set(id.asInt());
    }
  }

  /** The token that the tokenizer itself has for a masked one. */
  OptionalInt maskToken() {
    return maskToken;
  }

  /** Whether some token has this id. */
  boolean uses(int id) {
    return used.get(id);
  }
}
