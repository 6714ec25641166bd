package org.draftmill.corpus.jinja;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;

/**
 * {@code tojson} of Hugging Face: {@code json.dumps(value, ensure_ascii=False)} with the arguments
 * {@code indent}, {@code separators} and {@code sort_keys}; nothing is escaped for HTML.
 */
final class Json {
  private final Rendering rendering;
  private final String indent; // of one level; null for all in one line
  private final String itemSeparator;
  private final String keySeparator;
  private final boolean sortKeys;
  private final boolean ascii;
  private final StringBuilder out = new StringBuilder();

  private Json(Rendering rendering, Arguments arguments) {
    this.rendering = rendering;
    Object ensureAscii = arguments.get(0, "ensure_ascii", false);
    Object indented = arguments.get(1, "indent", null);
    Object separators = arguments.get(2, "separators", null);
    this.ascii = Values.isTrue(ensureAscii);
    this.sortKeys = arguments.flag(3, "sort_keys", false);
    if (indented instanceof String text) {
      this.indent = text;
    } else if (indented == null) {
      this.indent = null;
    } else {
      rendering.checkSize(Values.index(indented));
      this.indent = " ".repeat(Math.max(0, Values.index(indented)));
    }
    if (separators == null) {
      this.itemSeparator = indent == null ? ", " : ",";
      this.keySeparator = ": ";
    } else {
      List<Object> both = Values.list(separators);
      if (both.size() != 2) {
        throw JinjaException.runtime("tojson needs two separators, not %d", both.size());
      }
      this.itemSeparator = Values.text(both.get(0));
      this.keySeparator = Values.text(both.get(1));
    }
  }

  static String dump(Rendering rendering, Object value, Arguments arguments) {
    Json json = new Json(rendering, arguments);
    json.value(value, 0);
    return json.out.toString();
  }

  private void value(Object value, int level) {
    rendering.step();
    rendering.checkSize(out.length());
    if (value == null) {
      out.append("null");
    } else if (value instanceof String text) {
      string(text);
    } else if (value instanceof Double number) {
      out.append(number(number));
    } else if (value instanceof Boolean || value instanceof Number) {
      out.append(value);
    } else if (value instanceof Map<?, ?> map) {
      object(map, level);
    } else if (value instanceof Collection<?> list) {
      array(list, level);
    } else {
      throw JinjaException.runtime("%s cannot be written as JSON", Values.typeName(value));
    }
  }

  private static String number(double number) {
    return Double.isNaN(number)
        ? "NaN"
        : Double.isInfinite(number)
            ? number > 0 ? "Infinity" : "-Infinity"
            : PythonText.number(number);
  }

  private void array(Collection<?> list, int level) {
    if (list.isEmpty()) {
      out.append("[]");
      return;
    }
    out.append('[');
    boolean first = true;
    for (Object item : list) {
      out.append(first ? "" : itemSeparator);
      first = false;
      newLine(level + 1);
      value(item, level + 1);
    }
    newLine(level);
    out.append(']');
  }

  private void object(Map<?, ?> map, int level) {
    if (map.isEmpty()) {
      out.append("{}");
      return;
    }
    List<Object> keys = new ArrayList<>(map.keySet());
    if (sortKeys) {
      keys.sort(Values::compare);
    }
    out.append('{');
    boolean first = true;
    for (Object key : keys) {
      out.append(first ? "" : itemSeparator);
      first = false;
      newLine(level + 1);
      string(key(key));
      out.append(keySeparator);
      value(map.get(key), level + 1);
    }
    newLine(level);
    out.append('}');
  }

  private static String key(Object key) {
    if (key instanceof String text) {
      return text;
    }
    if (key == null || key instanceof Boolean) {
      return key == null ? "null" : key.toString();
    }
    if (Values.isNumber(key)) {
      return key instanceof Double number ? number(number) : key.toString();
    }
    throw JinjaException.runtime("%s cannot be a key in JSON", Values.typeName(key));
  }

  private void newLine(int level) {
    if (indent != null) {
      rendering.checkSize(out.length() + (long) level * indent.length());
      out.append('\n').append(indent.repeat(level));
    }
  }

  private void string(String text) {
    out.append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      switch (c) {
        case '"' -> out.append("\\\"");
        case '\\' -> out.append("\\\\");
        case '\n' -> out.append("\\n");
        case '\r' -> out.append("\\r");
        case '\t' -> out.append("\\t");
        case '\b' -> out.append("\\b");
        case '\f' -> out.append("\\f");
        default -> {
          if (c < 0x20 || (ascii && c > 0x7E)) {
            out.append("\\u%04x".formatted((int) c));
          } else {
            out.append(c);
          }
        }
      }
    }
    out.append('"');
  }
}
