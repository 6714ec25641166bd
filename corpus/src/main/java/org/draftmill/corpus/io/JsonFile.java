package org.draftmill.corpus.io;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.util.DefaultIndenter;
import com.fasterxml.jackson.core.util.DefaultPrettyPrinter;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import org.draftmill.corpus.InputException;

/**
 * A small JSON file that holds one record, with {@code format} and {@code version} in front. The
 * same record always gives the same bytes.
 */
public final class JsonFile {
  private static final ObjectMapper MAPPER =
      JsonMapper.builder()
          .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
          .enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
          .enable(DeserializationFeature.FAIL_ON_MISSING_CREATOR_PROPERTIES)
          .enable(DeserializationFeature.FAIL_ON_NULL_CREATOR_PROPERTIES)
          .defaultPropertyInclusion(
              JsonInclude.Value.construct(JsonInclude.Include.ALWAYS, JsonInclude.Include.ALWAYS))
          .build();

  private static final DefaultPrettyPrinter PRINTER =
      new DefaultPrettyPrinter()
          .withObjectIndenter(new DefaultIndenter("  ", "\n"))
          .withArrayIndenter(new DefaultIndenter("  ", "\n"));

  private JsonFile() {}

  /** The bytes of a file that holds {@code value}. */
  public static byte[] encode(String format, int version, Object value) {
    ObjectNode file = MAPPER.createObjectNode().put("format", format).put("version", version);
    file.setAll((ObjectNode) MAPPER.valueToTree(value));
    try {
      return (MAPPER.writer(PRINTER).writeValueAsString(file) + "\n")
          .getBytes(StandardCharsets.UTF_8);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("a record that cannot be written: " + value, e);
    }
  }

  /**
   * Reads a file that holds a {@code type}.
   *
   * @throws InputException if it is no JSON, of another format or version, or lacks a field
   * @throws IOException if it cannot be read
   */
  public static <T> T read(ByteSource source, String format, int version, Class<T> type)
      throws IOException {
    try (InputStream in = source.open(0)) {
      if (!(MAPPER.readTree(BoundedFile.bytes(in, source.name(), BoundedFile.SMALL))
          instanceof ObjectNode file)) {
        throw new InputException(source.name() + " holds no JSON object.");
      }
      String foundFormat = text(file.remove("format"));
      if (!format.equals(foundFormat)) {
        throw new InputException(
            "%s has the format '%s'; a file of the format '%s' is needed there."
                .formatted(source.name(), foundFormat, format));
      }
      String foundVersion = text(file.remove("version"));
      if (!String.valueOf(version).equals(foundVersion)) {
        throw new InputException(
            "%s has version %s; this build reads version %d only."
                .formatted(source.name(), foundVersion, version));
      }
      return MAPPER.treeToValue(file, type);
    } catch (JsonMappingException e) {
      Throwable cause = e.getCause();
      throw new InputException(
          cause instanceof InputException
              ? source.name() + ": " + cause.getMessage()
              : "%s cannot be understood: its %s is missing, unknown or of another kind."
                  .formatted(source.name(), field(e)),
          e);
    } catch (JsonProcessingException e) {
      throw new InputException(
          "%s cannot be understood%s: %s."
              .formatted(
                  source.name(),
                  e.getLocation() == null
                      ? ""
                      : " at line %d, column %d"
                          .formatted(e.getLocation().getLineNr(), e.getLocation().getColumnNr()),
                  e.getOriginalMessage()),
          e);
    }
  }

  /** {@code 'epochs[0].jobs'}. */
  private static String field(JsonMappingException e) {
    StringBuilder path = new StringBuilder();
    for (JsonMappingException.Reference part : e.getPath()) {
      if (part.getFieldName() == null) {
        path.append('[').append(part.getIndex()).append(']');
      } else {
        path.append(path.isEmpty() ? "" : ".").append(part.getFieldName());
      }
    }
    return path.isEmpty() ? "content" : "'" + path + "'";
  }

  private static String text(JsonNode node) {
    return node == null ? "(none)" : node.asText();
  }
}
