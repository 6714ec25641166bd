package org.draftmill.corpus.rows;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.draftmill.corpus.TokenizedSequence;

/**
 * Reads lines of JSON. Thread-safe.
 *
 * <p>The shapes, first match first: {@code input_ids} with {@code loss_mask}; {@code messages} or
 * {@code conversations}, of messages with {@code role} and {@code content} or {@code from} and
 * {@code value}; {@code text}. A chat may have {@code tools} and {@code documents} (lists, or JSON
 * in a text) and {@code chat_template_kwargs} (switches such as {@code enable_thinking}).
 */
public final class RowReader {
  private static final ObjectMapper MAPPER =
      JsonMapper.builder()
          .enable(DeserializationFeature.USE_LONG_FOR_INTS)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .build();

  private static final ObjectReader READER = MAPPER.readerFor(Object.class);

  /** Roles as they are called beside {@code value}. */
  private static final Map<String, String> ROLES =
      Map.ofEntries(
          Map.entry("human", "user"),
          Map.entry("user", "user"),
          Map.entry("gpt", "assistant"),
          Map.entry("assistant", "assistant"),
          Map.entry("model", "assistant"),
          Map.entry("chatgpt", "assistant"),
          Map.entry("system", "system"),
          Map.entry("tool", "tool"),
          Map.entry("observation", "tool"),
          Map.entry("function", "tool"));

  /** Ends reading of a row; carries the rejection. */
  private static final class Refused extends Exception {
    private final transient Rejection rejection;

    Refused(String detail) {
      super(detail, null, false, false);
      this.rejection = new Rejection(RejectionReason.UNKNOWN_SHAPE, detail);
    }
  }

  /** What a line says; a {@link Rejection} if it cannot be understood. */
  public Row read(String line) {
    String json = line.startsWith("\uFEFF") ? line.substring(1) : line;
    if (json.isBlank()) {
      return new Row.Blank();
    }
    try {
      if (READER.readValue(json) instanceof Map<?, ?> row) {
        return read(row);
      }
      return new Rejection(RejectionReason.MALFORMED_JSON, "the line is no JSON object");
    } catch (JsonProcessingException e) {
      String place = e.getLocation() == null ? "" : " at column " + e.getLocation().getColumnNr();
      return new Rejection(
          RejectionReason.MALFORMED_JSON, "no JSON" + place + ": " + e.getOriginalMessage());
    } catch (Refused e) {
      return e.rejection;
    }
  }

  private static Row read(Map<?, ?> row) throws Refused {
    if (row.containsKey("input_ids")) {
      return tokenized(row);
    }
    for (String key : List.of("messages", "conversations")) {
      if (row.get(key) != null) {
        return conversation(row, key);
      }
    }
    if (row.get("text") instanceof String text) {
      return new Row.PlainText(text);
    }
    if (row.get("text") != null) {
      throw new Refused("text is " + row.get("text") + ", which is no text");
    }
    throw new Refused(
        "it has none of messages, conversations, text and input_ids, but " + row.keySet());
  }

  private static Row tokenized(Map<?, ?> row) throws Refused {
    if (!(row.get("input_ids") instanceof List<?> ids)
        || !(row.get("loss_mask") instanceof List<?> mask)
        || ids.size() != mask.size()) {
      throw new Refused("input_ids and loss_mask must be two lists of the same length");
    }
    int[] inputIds = new int[ids.size()];
    byte[] lossMask = new byte[ids.size()];
    for (int i = 0; i < inputIds.length; i++) {
      if (!(ids.get(i) instanceof Long id) || id < 0 || id > Integer.MAX_VALUE) {
        throw new Refused("input_ids[" + i + "] is " + ids.get(i) + ", which is no token id");
      }
      inputIds[i] = id.intValue();
      lossMask[i] = flag(mask.get(i), i);
    }
    return new Row.Tokenized(new TokenizedSequence(inputIds, lossMask));
  }

  private static byte flag(Object value, int i) throws Refused {
    if (value instanceof Boolean flag) {
      return (byte) (flag ? 1 : 0);
    }
    if (value instanceof Long number && (number == 0 || number == 1)) {
      return number.byteValue();
    }
    throw new Refused("loss_mask[" + i + "] is " + value + ", which is neither 0 nor 1");
  }

  private static Conversation conversation(Map<?, ?> row, String key) throws Refused {
    if (!(row.get(key) instanceof List<?> list) || list.isEmpty()) {
      throw new Refused(key + " is no list of messages");
    }
    List<Map<String, Object>> messages = new ArrayList<>(list.size());
    for (int i = 0; i < list.size(); i++) {
      messages.add(message(list.get(i), key + "[" + i + "]"));
    }
    Map<String, Object> variables = new LinkedHashMap<>();
    if (row.get("chat_template_kwargs") instanceof Map<?, ?> switches) {
      switches.forEach((name, value) -> variables.put((String) name, value));
    }
    for (String name : List.of("tools", "documents")) {
      Object value = parsed(row.get(name), name);
      if (value != null) {
        variables.put(name, value);
      }
    }
    return new Conversation(messages, variables);
  }

  private static Map<String, Object> message(Object value, String place) throws Refused {
    if (!(value instanceof Map<?, ?> given)) {
      throw new Refused(place + " is no object");
    }
    Map<String, Object> message = new LinkedHashMap<>();
    boolean shareStyle = !given.containsKey(Conversation.ROLE) && given.containsKey("from");
    for (Map.Entry<?, ?> entry : given.entrySet()) {
      String key = (String) entry.getKey();
      if (shareStyle && key.equals("from")) {
        message.put(Conversation.ROLE, role(entry.getValue(), place));
      } else if (shareStyle && key.equals("value")) {
        message.put("content", entry.getValue());
      } else {
        message.put(key, entry.getValue());
      }
    }
    if (!(message.get(Conversation.ROLE) instanceof String)) {
      throw new Refused(place + " has no role");
    }
    boolean speaks = message.get("tool_calls") != null || message.get("reasoning_content") != null;
    if (message.get("content") == null && !speaks) {
      throw new Refused(place + " has no content");
    }
    return message;
  }

  private static String role(Object from, String place) throws Refused {
    String role = from instanceof String name ? ROLES.get(name) : null;
    if (role == null) {
      throw new Refused(
          "%s comes from '%s'; known are %s"
              .formatted(place, from, ROLES.keySet().stream().sorted().toList()));
    }
    return role;
  }

  /** A value that some data sets keep as JSON within a text. */
  private static Object parsed(Object value, String name) throws Refused {
    Object parsed = value;
    if (value instanceof String text) {
      if (text.isBlank()) {
        return null;
      }
      try {
        parsed = READER.readValue(text);
      } catch (JsonProcessingException e) {
        throw new Refused(name + " is a text that holds no JSON");
      }
    }
    if (parsed != null && !(parsed instanceof List)) {
      throw new Refused(name + " is no list");
    }
    return parsed instanceof List<?> list && list.isEmpty() ? null : parsed;
  }
}
