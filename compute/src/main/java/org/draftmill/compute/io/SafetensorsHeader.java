package org.draftmill.compute.io;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.draftmill.compute.InputException;

/**
 * The JSON header of a safetensors file, read as a stream and checked: types known, shapes and byte
 * ranges consistent, the ranges covering the data exactly, without gap or overlap (as the format
 * demands).
 *
 * @param entries by position in the data
 * @param metadata the free-form {@code __metadata__}, empty when absent
 */
record SafetensorsHeader(List<Entry> entries, Map<String, String> metadata) {

  /** A tensor at the bytes {@code begin … end − 1} after the header. */
  record Entry(String name, TensorType type, long[] shape, long begin, long end) {}

  private static final String METADATA = "__metadata__";
  private static final int MAX_RANK = 16;
  private static final int MAX_NAME = 4096;

  private static final JsonFactory JSON =
      JsonFactory.builder()
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .disable(StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION)
          .disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES)
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxNestingDepth(4)
                  .maxNumberLength(20)
                  .maxNameLength(MAX_NAME)
                  .maxStringLength(1 << 20)
                  .build())
          .build();

  /**
   * @param file for messages
   * @param dataBytes length of the file after its header
   */
  static SafetensorsHeader parse(Path file, byte[] json, long dataBytes) {
    Parser parser = new Parser(file);
    try (JsonParser tokens = JSON.createParser(json)) {
      parser.header(tokens);
    } catch (IOException e) {
      throw new InputException(
          file + ": its safetensors header is not the JSON it should be: " + firstLine(e), e);
    }
    List<Entry> entries = parser.entries;
    entries.sort(Comparator.comparingLong(Entry::begin).thenComparingLong(Entry::end));
    checkCover(file, entries, dataBytes);
    return new SafetensorsHeader(List.copyOf(entries), Map.copyOf(parser.metadata));
  }

  private static void checkCover(Path file, List<Entry> entries, long dataBytes) {
    long covered = 0;
    for (Entry entry : entries) {
      if (entry.end > dataBytes) {
        throw new InputException(
            "%s: tensor '%s' should lie at bytes %d to %d of the data, but the file ends after %d; it is truncated or damaged."
                .formatted(file, entry.name, entry.begin, entry.end, dataBytes));
      }
      if (entry.begin != covered) {
        throw new InputException(
            "%s: tensor '%s' begins at byte %d of the data where byte %d was due: tensors must neither overlap nor leave gaps."
                .formatted(file, entry.name, entry.begin, covered));
      }
      covered = entry.end;
    }
    if (covered != dataBytes) {
      throw new InputException(
          "%s: its tensors end at byte %d of the data, but the file goes on to byte %d."
              .formatted(file, covered, dataBytes));
    }
  }

  static String firstLine(Exception e) {
    String message = String.valueOf(e.getMessage());
    int end = message.indexOf('\n');
    return end < 0 ? message : message.substring(0, end);
  }

  /** Pulls entries off a token stream. */
  private static final class Parser {
    private final Path file;
    private final List<Entry> entries = new ArrayList<>();
    private final Map<String, String> metadata = new LinkedHashMap<>();

    Parser(Path file) {
      this.file = file;
    }

    void header(JsonParser tokens) throws IOException {
      if (tokens.nextToken() != JsonToken.START_OBJECT) {
        throw damaged("its header is not a JSON object");
      }
      while (tokens.nextToken() == JsonToken.FIELD_NAME) {
        String name = tokens.currentName();
        if (tokens.nextToken() != JsonToken.START_OBJECT) {
          throw damaged("the header's entry '" + name + "' is not an object");
        }
        if (name.equals(METADATA)) {
          metadata(tokens);
        } else {
          entries.add(entry(name, tokens));
        }
      }
      if (tokens.nextToken() != null) {
        throw damaged("something follows the header's JSON object");
      }
    }

    private void metadata(JsonParser tokens) throws IOException {
      while (tokens.nextToken() == JsonToken.FIELD_NAME) {
        String key = tokens.currentName();
        if (tokens.nextToken() != JsonToken.VALUE_STRING) {
          throw damaged("the metadata value of '" + key + "' is not a string");
        }
        metadata.put(key, tokens.getText());
      }
    }

    private Entry entry(String name, JsonParser tokens) throws IOException {
      TensorType type = null;
      long[] shape = null;
      long[] offsets = null;
      while (tokens.nextToken() == JsonToken.FIELD_NAME) {
        String key = tokens.currentName();
        tokens.nextToken();
        switch (key) {
          case "dtype" -> type = type(name, tokens);
          case "shape" -> shape = naturals(name, key, tokens);
          case "data_offsets" -> offsets = naturals(name, key, tokens);
          default -> throw damaged("tensor '" + name + "' has an unknown key '" + key + "'");
        }
      }
      if (type == null || shape == null || offsets == null) {
        String missing = type == null ? "dtype" : shape == null ? "shape" : "data_offsets";
        throw damaged("tensor '" + name + "' has no " + missing);
      }
      return checked(name, type, shape, offsets);
    }

    private TensorType type(String name, JsonParser tokens) throws IOException {
      String type = tokens.currentToken() == JsonToken.VALUE_STRING ? tokens.getText() : "";
      return TensorType.named(type)
          .orElseThrow(
              () ->
                  new InputException(
                      "%s: tensor '%s' has the element type '%s'; known are %s."
                          .formatted(file, name, type, TensorType.names())));
    }

    private long[] naturals(String name, String key, JsonParser tokens) throws IOException {
      if (tokens.currentToken() != JsonToken.START_ARRAY) {
        throw damaged("%s of tensor '%s' is not a list".formatted(key, name));
      }
      long[] values = new long[MAX_RANK];
      int count = 0;
      while (tokens.nextToken() != JsonToken.END_ARRAY) {
        if (tokens.currentToken() != JsonToken.VALUE_NUMBER_INT || count == MAX_RANK) {
          throw damaged(
              "%s of tensor '%s' is not a list of at most %d whole numbers"
                  .formatted(key, name, MAX_RANK));
        }
        long value = tokens.getLongValue();
        if (value < 0) {
          throw damaged("%s of tensor '%s' holds %d".formatted(key, name, value));
        }
        values[count++] = value;
      }
      return Arrays.copyOf(values, count);
    }

    private Entry checked(String name, TensorType type, long[] shape, long[] offsets) {
      if (offsets.length != 2 || offsets[0] > offsets[1]) {
        throw damaged(
            "data_offsets of tensor '%s' are %s instead of [begin, end]"
                .formatted(name, Arrays.toString(offsets)));
      }
      long bytes = type.bytes();
      try {
        for (long dimension : shape) {
          bytes = Math.multiplyExact(bytes, dimension);
        }
      } catch (ArithmeticException e) {
        throw damaged(
            "tensor '%s' claims the impossible shape %s".formatted(name, Arrays.toString(shape)));
      }
      if (bytes != offsets[1] - offsets[0]) {
        throw damaged(
            "tensor '%s' of shape %s and type %s needs %d bytes, but its data_offsets %s hold %d"
                .formatted(
                    name,
                    Arrays.toString(shape),
                    type,
                    bytes,
                    Arrays.toString(offsets),
                    offsets[1] - offsets[0]));
      }
      return new Entry(name, type, shape, offsets[0], offsets[1]);
    }

    private InputException damaged(String what) {
      return new InputException(file + ": " + what + "; the file is damaged.");
    }
  }
}
