package org.draftmill.corpus.text;

import java.io.IOException;
import java.nio.file.Path;
import java.time.ZonedDateTime;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SortedSet;
import java.util.TreeSet;
import org.draftmill.corpus.InputException;

/**
 * All that turns text into tokens for one target: tokenizer, chat template, stop tokens.
 * Thread-safe, but for {@link #close}.
 */
public final class TargetText implements AutoCloseable {
  private static final List<Map<String, Object>> QUESTION =
      List.of(Map.of("role", "user", "content", "Hi"));
  private static final List<Map<String, Object>> ANSWERED =
      List.of(QUESTION.get(0), Map.of("role", "assistant", "content", "Hello"));

  private final String name;
  private final TextTokenizer tokenizer;
  private final Optional<ChatTemplate> chatTemplate;
  private final SortedSet<Integer> stopTokens;
  private final OptionalInt endOfText;
  private final int maxPositions;

  private TargetText(Path target, TextTokenizer tokenizer, TargetConfig config, ZonedDateTime now)
      throws IOException {
    Path fileName = target.toAbsolutePath().normalize().getFileName();
    this.name = fileName == null ? target.toString() : fileName.toString();
    this.tokenizer = tokenizer;
    this.chatTemplate = ChatTemplate.load(target, config, now);
    this.stopTokens = config.stopTokens(tokenizer);
    this.maxPositions = config.maxPositions();
    this.endOfText = findEndOfText(target);
  }

  /**
   * Loads what a target's folder holds.
   *
   * @param now the time that the chat template is told when it asks
   * @throws InputException if a file cannot be used, or the template needs what is not known
   */
  public static TargetText load(Path target, ZonedDateTime now) throws IOException {
    TargetConfig config = new TargetConfig(target);
    TextTokenizer tokenizer = TextTokenizer.load(target);
    try {
      return new TargetText(target, tokenizer, config, now);
    } catch (IOException | RuntimeException e) {
      tokenizer.close();
      throw e;
    }
  }

  /**
   * The token that ends a document of plain text: among the stop tokens the lowest that the chat
   * template does not write at the end of a turn, since that one ends turns; the lowest of all if
   * it writes each of them. (Qwen: {@code <|endoftext|>}, not {@code <|im_end|>}.)
   */
  private OptionalInt findEndOfText(Path target) {
    SortedSet<Integer> candidates = new TreeSet<>(stopTokens);
    for (int token : turnTokens(target)) {
      candidates.remove(token);
    }
    SortedSet<Integer> chosen = candidates.isEmpty() ? stopTokens : candidates;
    return chosen.isEmpty() ? OptionalInt.empty() : OptionalInt.of(chosen.first());
  }

  /** The tokens that the template writes for an answer, to its end. */
  private int[] turnTokens(Path target) {
    if (chatTemplate.isEmpty()) {
      return new int[0];
    }
    try {
      String prefix = chatTemplate.get().render(QUESTION, Map.of(), true);
      String whole = chatTemplate.get().render(ANSWERED, Map.of(), false);
      String turn = whole.startsWith(prefix) ? whole.substring(prefix.length()) : whole;
      return tokenizer.encode(turn, false);
    } catch (RenderException e) {
      if (e.isTemplateAtFault()) {
        throw new InputException(
            "The chat template of %s cannot be rendered: %s.".formatted(target, e.getMessage()), e);
      }
      return new int[0]; // it refuses so plain a conversation; rows will tell
    }
  }

  /** The folder's name. */
  public String name() {
    return name;
  }

  public TextTokenizer tokenizer() {
    return tokenizer;
  }

  /** Empty if the target has none; then only plain text can be encoded. */
  public Optional<ChatTemplate> chatTemplate() {
    return chatTemplate;
  }

  /** Whether the target stops generating at this token. */
  public boolean isStop(int token) {
    return stopTokens.contains(token);
  }

  /** The token that ends a document of plain text; empty if the target has no stop token. */
  public OptionalInt endOfText() {
    return endOfText;
  }

  /** The most tokens that the target can read; 0 if its config does not say. */
  public int maxPositions() {
    return maxPositions;
  }

  @Override
  public void close() {
    tokenizer.close();
  }
}
