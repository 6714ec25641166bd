package org.draftmill.corpus.text;

import ai.djl.huggingface.tokenizers.HuggingFaceTokenizer;
import ai.djl.huggingface.tokenizers.jni.CharSpan;
import ai.djl.huggingface.tokenizers.jni.TokenizersLibrary;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalInt;
import org.draftmill.corpus.InputException;
import org.draftmill.corpus.io.BoundedFile;
import org.draftmill.corpus.io.Digests;
import org.draftmill.corpus.io.InputFile;

/**
 * The tokenizer of a target, from its {@code tokenizer.json}: never truncates, never pads.
 *
 * <p>Thread-safe, but for {@link #close}, after which no thread may be in a call.
 */
public final class TextTokenizer implements AutoCloseable {
  /** The file of a target's folder. */
  public static final String FILE = "tokenizer.json";

  private final HuggingFaceTokenizer tokenizer;
  private final TokenizersLibrary natives;
  private final String sha256;
  private final Map<String, Integer> addedTokens;
  private volatile boolean closed;

  private TextTokenizer(
      HuggingFaceTokenizer tokenizer,
      TokenizersLibrary natives,
      String sha256,
      Map<String, Integer> addedTokens) {
    this.tokenizer = tokenizer;
    this.natives = natives;
    this.sha256 = sha256;
    this.addedTokens = addedTokens;
  }

  /**
   * Loads the tokenizer of a target.
   *
   * @param target the target's folder
   * @throws InputException if there is no tokenizer.json or it cannot be understood
   */
  public static TextTokenizer load(Path target) throws IOException {
    InputFile.requireFolder(target);
    Path file = target.resolve(FILE);
    if (!InputFile.isNamed(file)) {
      throw new InputException(
          "The target %s has no %s; save its tokenizer in that format, for instance with AutoTokenizer.from_pretrained(...).save_pretrained(...)."
              .formatted(target, FILE));
    }
    byte[] bytes = BoundedFile.bytes(file, BoundedFile.TOKENIZER);
    ObjectMapper json = new ObjectMapper();
    try {
      if (!(json.readTree(bytes) instanceof ObjectNode definition)) {
        throw new InputException(file + " holds no JSON object.");
      }
      Map<String, Integer> added = new HashMap<>();
      definition
          .path("added_tokens")
          .forEach(token -> added.put(token.path("content").asText(), token.path("id").asInt()));
      byte[] used = neutralise(definition) ? json.writeValueAsBytes(definition) : bytes;
      TokenizersLibrary natives = NativeTokenizers.load();
      HuggingFaceTokenizer tokenizer =
          HuggingFaceTokenizer.newInstance(
              new ByteArrayInputStream(used),
              Map.of("truncation", "false", "padding", "false", "addSpecialTokens", "false"));
      return new TextTokenizer(tokenizer, natives, Digests.sha256Hex(bytes), Map.copyOf(added));
    } catch (JsonProcessingException e) {
      throw new InputException(file + " is no JSON: " + e.getOriginalMessage(), e);
    } catch (RuntimeException e) {
      if (e instanceof InputException) {
        throw e;
      }
      throw new InputException(file + " cannot be used as a tokenizer: " + e.getMessage(), e);
    }
  }

  /**
   * Takes out what cuts, pads or blurs: truncation, padding, and offsets that leave out the blanks
   * of a token. Ids do not depend on any of them.
   *
   * @return whether anything was changed
   */
  private static boolean neutralise(ObjectNode definition) {
    boolean changed = false;
    for (String setting : new String[] {"truncation", "padding"}) {
      if (definition.path(setting).isObject()) {
        definition.putNull(setting);
        changed = true;
      }
    }
    for (String step : new String[] {"pre_tokenizer", "post_processor"}) {
      for (JsonNode part : definition.path(step).findParents("trim_offsets")) {
        if (part.path("trim_offsets").asBoolean() && part instanceof ObjectNode processor) {
          processor.put("trim_offsets", false);
          changed = true;
        }
      }
    }
    return changed;
  }

  /** SHA-256 of tokenizer.json, as 64 hexadecimal digits. */
  public String sha256() {
    return sha256;
  }

  /** The id of an added token, such as {@code <|im_end|>}, by its spelling. */
  public OptionalInt addedToken(String spelling) {
    Integer id = addedTokens.get(spelling);
    return id == null ? OptionalInt.empty() : OptionalInt.of(id);
  }

  /**
   * The tokens of a text.
   *
   * @param addSpecialTokens whether the tokenizer puts its own tokens around it, such as a
   *     beginning of text; never for a rendered chat, whose template wrote them already
   */
  public int[] encode(String text, boolean addSpecialTokens) {
    long encoding = natives.encode(handle(), text, addSpecialTokens);
    try {
      return narrow(natives.getTokenIds(encoding));
    } finally {
      natives.deleteEncoding(encoding);
    }
  }

  /** The tokens of a text and where they come from, without tokens of the tokenizer's own. */
  public TokenSpans encodeSpans(String text) {
    long encoding = natives.encode(handle(), text, false);
    try {
      int[] ids = narrow(natives.getTokenIds(encoding));
      CharSpan[] spans = natives.getTokenCharSpans(encoding);
      int[] starts = new int[ids.length];
      int[] ends = new int[ids.length];
      for (int i = 0; i < ids.length; i++) {
        // A token that stands for no character lies where the last one ended.
        int before = i == 0 ? 0 : ends[i - 1];
        starts[i] = spans[i] == null ? before : spans[i].getStart();
        ends[i] = spans[i] == null ? before : spans[i].getEnd();
      }
      return new TokenSpans(ids, starts, ends);
    } finally {
      natives.deleteEncoding(encoding);
    }
  }

  /** The text of tokens, special ones included. */
  public String decode(int[] ids) {
    long[] wide = new long[ids.length];
    for (int i = 0; i < ids.length; i++) {
      wide[i] = ids[i];
    }
    return natives.decode(handle(), wide, false);
  }

  private long handle() {
    if (closed) {
      throw new IllegalStateException("the tokenizer is closed");
    }
    return tokenizer.getHandle();
  }

  private static int[] narrow(long[] ids) {
    int[] narrow = new int[ids.length];
    for (int i = 0; i < ids.length; i++) {
      narrow[i] = (int) ids[i];
    }
    return narrow;
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      tokenizer.close();
    }
  }
}
