package org.draftmill.corpus.text;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.ZonedDateTime;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.draftmill.corpus.InputException;
import org.draftmill.corpus.io.BoundedFile;
import org.draftmill.corpus.io.InputFile;

/**
 * The chat template of a target, rendered as Hugging Face's {@code apply_chat_template} does: the
 * template sees {@code messages}, {@code tools}, {@code documents}, {@code add_generation_prompt}
 * and the special tokens that are set.
 *
 * <p>Immutable and thread-safe.
 */
public final class ChatTemplate {
  private static final String DEFAULT = "default";
  private static final String TOOL_USE = "tool_use";

  private final Map<String, ChatRenderer> renderers;
  private final Map<String, Object> specialTokens;

  private ChatTemplate(Map<String, ChatRenderer> renderers, Map<String, Object> specialTokens) {
    this.renderers = renderers;
    this.specialTokens = specialTokens;
  }

  /**
   * Finds and parses the target's template: {@code chat_template.jinja} with its {@code
   * additional_chat_templates/}, else {@code chat_template.json}, else the {@code chat_template} of
   * {@code tokenizer_config.json}, a text or a list of named ones.
   *
   * @param now the time that a template is told when it asks, the same for all rows of a dataset
   * @return empty if the target has none
   * @throws InputException naming file, line and construct, if a template cannot be parsed
   */
  public static Optional<ChatTemplate> load(Path target, ZonedDateTime now) throws IOException {
    return load(target, new TargetConfig(target), now);
  }

  static Optional<ChatTemplate> load(Path target, TargetConfig config, ZonedDateTime now)
      throws IOException {
    Map<String, ChatRenderer> renderers = new HashMap<>();
    for (Map.Entry<String, Source> entry : sources(target, config).entrySet()) {
      Source source = entry.getValue();
      renderers.put(entry.getKey(), new JinjaRenderer(source.text(), source.place(), now));
    }
    if (renderers.isEmpty()) {
      return Optional.empty();
    }
    if (renderers.size() > 1 && !renderers.containsKey(DEFAULT)) {
      throw new InputException(
          "The target %s has the chat templates %s, but none of the name 'default'; name one so."
              .formatted(target, new TreeMap<>(renderers).keySet()));
    }
    return Optional.of(new ChatTemplate(renderers, config.specialTokens()));
  }

  private record Source(String text, String place) {}

  private static Map<String, Source> sources(Path target, TargetConfig config) throws IOException {
    Map<String, Source> sources = new LinkedHashMap<>();
    Path file = target.resolve("chat_template.jinja");
    if (InputFile.isNamed(file)) {
      sources.put(DEFAULT, new Source(BoundedFile.text(file, BoundedFile.SMALL), file.toString()));
      Path more = target.resolve("additional_chat_templates");
      if (Files.isDirectory(more)) {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(more, "*.jinja")) {
          for (Path named : files) {
            String name = named.getFileName().toString().replaceFirst("\\.jinja$", "");
            sources.put(
                name, new Source(BoundedFile.text(named, BoundedFile.SMALL), named.toString()));
          }
        }
      }
      return sources;
    }
    add(sources, config.read("chat_template.json"), target.resolve("chat_template.json"));
    if (sources.isEmpty()) {
      add(sources, config.tokenizerConfig(), target.resolve("tokenizer_config.json"));
    }
    return sources;
  }

  private static void add(Map<String, Source> sources, JsonNode file, Path path) {
    JsonNode template = file.path("chat_template");
    if (template.isTextual()) {
      sources.put(DEFAULT, new Source(template.asText(), path.toString()));
    }
    for (JsonNode named : template) {
      String name = named.path("name").asText();
      sources.put(
          name, new Source(named.path("template").asText(), path + ", template '" + name + "'"));
    }
  }

  /**
   * Renders messages.
   *
   * @param messages in order; not changed
   * @param variables what else the row gives: {@code tools}, {@code documents}, switches of the
   *     template
   * @param addGenerationPrompt whether the header of the assistant's next turn is to follow
   * @throws RenderException if the template refuses or fails on them
   */
  public String render(
      List<Map<String, Object>> messages,
      Map<String, Object> variables,
      boolean addGenerationPrompt)
      throws RenderException {
    Map<String, Object> all = new HashMap<>(specialTokens);
    all.put("tools", null);
    all.put("documents", null);
    all.putAll(variables);
    all.put("messages", messages);
    all.put("add_generation_prompt", addGenerationPrompt);
    return renderer(all.get("tools") != null).render(all);
  }

  private ChatRenderer renderer(boolean withTools) {
    ChatRenderer toolUse = withTools ? renderers.get(TOOL_USE) : null;
    if (toolUse != null) {
      return toolUse;
    }
    return renderers.getOrDefault(DEFAULT, renderers.values().iterator().next());
  }
}
