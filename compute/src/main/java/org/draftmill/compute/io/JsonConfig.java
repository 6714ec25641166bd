package org.draftmill.compute.io;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import org.draftmill.compute.InputException;

/**
 * A JSON object of a configuration file such as {@code config.json}. Values are asked for by key
 * and kind; what is missing or of another kind is an {@link InputException} that names the file,
 * the key and the value found. A {@code null} counts as absent.
 */
public final class JsonConfig {
  private static final long MAX_BYTES = 64 << 20;

  private static final ObjectMapper JSON =
      new ObjectMapper(
              JsonFactory.builder()
                  .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                  .disable(StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION)
                  .disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES)
                  .streamReadConstraints(
                      StreamReadConstraints.builder()
                          .maxNestingDepth(32)
                          .maxNumberLength(40)
                          .maxStringLength(1 << 20)
                          .build())
                  .build())
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);

  private final Path path;
  private final String prefix;
  private final JsonNode node;

  private JsonConfig(Path path, String prefix, JsonNode node) {
    this.path = path;
    this.prefix = prefix;
    this.node = node;
  }

  /** Reads a file that holds one JSON object: bounded in size and depth, without repeated keys. */
  public static JsonConfig read(Path path) {
    try (FileChannel channel = InputFile.open(path)) {
      long size = channel.size();
      if (size > MAX_BYTES) {
        throw new InputException(
            "%s: holds %d bytes; a configuration may have %d at most."
                .formatted(path, size, MAX_BYTES));
      }
      JsonNode node = JSON.readTree(Channels.newInputStream(channel).readNBytes((int) MAX_BYTES));
      if (!node.isObject()) {
        throw new InputException(path + ": does not hold a JSON object.");
      }
      return new JsonConfig(path, "", node);
    } catch (IOException e) {
      throw new InputException(
          path + ": cannot be read as JSON: " + SafetensorsHeader.firstLine(e), e);
    }
  }

  /**
   * The same for JSON that was read from elsewhere.
   *
   * @param path for messages
   */
  public static JsonConfig parse(Path path, String json) {
    try {
      JsonNode node = JSON.readTree(json);
      if (!node.isObject()) {
        throw new InputException(path + ": does not hold a JSON object.");
      }
      return new JsonConfig(path, "", node);
    } catch (IOException e) {
      throw new InputException(
          path + ": cannot be read as JSON: " + SafetensorsHeader.firstLine(e), e);
    }
  }

  public Path path() {
    return path;
  }

  /** Whether the key is there with a value other than null. */
  public boolean has(String key) {
    return node.hasNonNull(key);
  }

  public List<String> keys() {
    List<String> keys = new ArrayList<>();
    node.fieldNames().forEachRemaining(keys::add);
    return keys;
  }

  /** A whole number between {@code min} and {@code max}, both included. */
  public int integer(String key, int min, int max) {
    JsonNode value = value(key, "a whole number", JsonConfig::isWhole);
    double number = value.doubleValue();
    if (number < min || number > max) {
      throw wrong(key, value, "a whole number from " + min + " to " + max);
    }
    return (int) number;
  }

  public int integer(String key, int min, int max, int absent) {
    return has(key) ? integer(key, min, max) : absent;
  }

  public double number(String key) {
    return value(key, "a number", JsonNode::isNumber).doubleValue();
  }

  public double number(String key, double absent) {
    return has(key) ? number(key) : absent;
  }

  public String text(String key) {
    return value(key, "a text", JsonNode::isTextual).textValue();
  }

  public Optional<String> optionalText(String key) {
    return has(key) ? Optional.of(text(key)) : Optional.empty();
  }

  public boolean flag(String key, boolean absent) {
    return has(key) ? value(key, "true or false", JsonNode::isBoolean).booleanValue() : absent;
  }

  public Optional<JsonConfig> object(String key) {
    if (!has(key)) {
      return Optional.empty();
    }
    JsonNode value = value(key, "an object", JsonNode::isObject);
    return Optional.of(new JsonConfig(path, prefix + key + ".", value));
  }

  /** A list of texts, or a single one. */
  public List<String> texts(String key) {
    List<String> texts = new ArrayList<>();
    for (JsonNode element : elements(key, "a list of texts", JsonNode::isTextual)) {
      texts.add(element.textValue());
    }
    return texts;
  }

  /** A list of whole numbers that fit an int, or a single one. */
  public int[] integers(String key) {
    List<JsonNode> elements =
        elements(
            key,
            "a list of whole numbers",
            element -> isWhole(element) && Math.abs(element.doubleValue()) <= Integer.MAX_VALUE);
    return elements.stream().mapToInt(element -> (int) element.doubleValue()).toArray();
  }

  private List<JsonNode> elements(String key, String kind, Predicate<JsonNode> fits) {
    JsonNode value =
        value(
            key,
            kind,
            found -> {
              if (!found.isArray()) {
                return fits.test(found);
              }
              for (JsonNode element : found) {
                if (!fits.test(element)) {
                  return false;
                }
              }
              return true;
            });
    List<JsonNode> elements = new ArrayList<>();
    (value.isArray() ? value : List.of(value)).forEach(elements::add);
    return elements;
  }

  /** Whole numbers, also such that were written with a fraction of zero ({@code 1e6}, 4.0). */
  private static boolean isWhole(JsonNode node) {
    return node.isNumber() && node.doubleValue() == Math.rint(node.doubleValue());
  }

  private JsonNode value(String key, String kind, Predicate<JsonNode> fits) {
    JsonNode value = node.get(key);
    if (value == null || value.isNull()) {
      throw new InputException(
          "%s: has no '%s%s', which must be %s.".formatted(path, prefix, key, kind));
    }
    if (!fits.test(value)) {
      throw wrong(key, value, kind);
    }
    return value;
  }

  private InputException wrong(String key, JsonNode value, String kind) {
    String found = value.toString();
    String shown = found.length() <= 80 ? found : found.substring(0, 80) + "…";
    return new InputException(
        "%s: '%s%s' is %s where %s is expected.".formatted(path, prefix, key, shown, kind));
  }
}
