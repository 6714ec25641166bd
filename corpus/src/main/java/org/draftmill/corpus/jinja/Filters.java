package org.draftmill.corpus.jinja;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/** The filters that work on single values; those on lists are in {@link ListFilters}. */
final class Filters {
  /** A filter, as it stands behind {@code |}. */
  @FunctionalInterface
  interface Filter {
    Object apply(Rendering rendering, Object value, Arguments arguments);
  }

  private static final Map<String, Filter> ALL = new HashMap<>(ListFilters.ALL);

  static {
    ALL.put("abs", Filters::absolute);
    ALL.put("attr", Filters::attribute);
    ALL.put("capitalize", (r, v, a) -> TextMethods.capitalize(Values.text(v)));
    ALL.put("center", Filters::center);
    ALL.put("count", (r, v, a) -> Values.length(v));
    ALL.put("length", (r, v, a) -> Values.length(v));
    ALL.put("default", Filters::defaultValue);
    ALL.put("d", Filters::defaultValue);
    ALL.put("e", (r, v, a) -> escape(Values.text(v)));
    ALL.put("escape", (r, v, a) -> escape(Values.text(v)));
    ALL.put("forceescape", (r, v, a) -> escape(Values.text(v)));
    ALL.put("safe", (r, v, a) -> Values.text(v));
    ALL.put("string", (r, v, a) -> Values.text(v));
    ALL.put("float", Filters::toFloat);
    ALL.put("int", Filters::toInt);
    ALL.put("format", Filters::format);
    ALL.put("indent", Filters::indent);
    ALL.put("lower", (r, v, a) -> Values.text(v).toLowerCase(Locale.ROOT));
    ALL.put("upper", (r, v, a) -> Values.text(v).toUpperCase(Locale.ROOT));
    ALL.put("title", (r, v, a) -> title(Values.text(v)));
    ALL.put("replace", Filters::replace);
    ALL.put("round", Filters::round);
    ALL.put("tojson", Json::dump);
    ALL.put(
        "trim",
        (r, v, a) -> PythonText.strip(Values.text(v), a.text(0, "chars", null), true, true));
    ALL.put("truncate", Filters::truncate);
    ALL.put("urlencode", (r, v, a) -> urlEncode(Values.text(v)));
    ALL.put("wordcount", (r, v, a) -> wordCount(Values.text(v)));
  }

  private Filters() {}

  /** The filter of that name; null if there is none. */
  static Filter find(String name) {
    return ALL.get(name);
  }

  private static Object absolute(Rendering rendering, Object value, Arguments arguments) {
    return Values.number(value) < 0 ? Operators.negate(value) : value;
  }

  /** An attribute, and never an element of that name. */
  private static Object attribute(Rendering rendering, Object value, Arguments arguments) {
    String name = Values.text(arguments.require(0, "name"));
    boolean element = value instanceof Map && !MapMethods.isMethod(name);
    return element ? new Undefined("'" + name + "'") : Members.attribute(value, name);
  }

  private static Object center(Rendering rendering, Object value, Arguments arguments) {
    int width = arguments.integer(0, "width", 80);
    return TextMethods.pad(rendering, Values.text(value), "center", width, " ");
  }

  private static Object defaultValue(Rendering rendering, Object value, Arguments arguments) {
    boolean absent =
        value instanceof Undefined
            || (arguments.flag(1, "boolean", false) && !Values.isTrue(value));
    return absent ? arguments.get(0, "default_value", "") : value;
  }

  private static String escape(String text) {
    return text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("'", "&#39;")
        .replace("\"", "&#34;");
  }

  private static Object toFloat(Rendering rendering, Object value, Arguments arguments) {
    try {
      return value instanceof String text
          ? Double.parseDouble(text.strip())
          : Values.isNumber(value) ? Values.number(value) : arguments.get(0, "default", 0.0);
    } catch (NumberFormatException e) {
      return arguments.get(0, "default", 0.0);
    }
  }

  private static Object toInt(Rendering rendering, Object value, Arguments arguments) {
    Object otherwise = arguments.get(0, "default", 0L);
    if (Values.isWhole(value)) {
      return Values.whole(value);
    }
    if (value instanceof Double number) {
      return number.isNaN() || number.isInfinite() ? otherwise : (Object) number.longValue();
    }
    if (!(value instanceof String text)) {
      return otherwise;
    }
    try {
      return Long.parseLong(text.strip(), arguments.integer(1, "base", 10));
    } catch (NumberFormatException e) {
      Object number =
          toFloat(rendering, text, new Arguments(Arrays.asList((Object) null), Map.of()));
      return number == null
          ? otherwise
          : toInt(rendering, number, new Arguments(Arrays.asList(otherwise), Map.of()));
    }
  }

  private static Object format(Rendering rendering, Object value, Arguments arguments) {
    return PercentFormat.format(rendering, Values.text(value), arguments.positional());
  }

  /** Indents all lines but the first, and blank ones only when told to. */
  private static Object indent(Rendering rendering, Object value, Arguments arguments) {
    Object width = arguments.get(0, "width", 4L);
    String indent = width instanceof String text ? text : " ".repeat(columns(rendering, width));
    boolean first = arguments.flag(1, "first", false);
    boolean blank = arguments.flag(2, "blank", false);
    StringBuilder out = new StringBuilder();
    String[] lines = Values.text(value).split("\n", -1);
    for (int i = 0; i < lines.length; i++) {
      boolean indented = i == 0 ? first : blank || !lines[i].isEmpty();
      out.append(i == 0 ? "" : "\n").append(indented ? indent : "").append(lines[i]);
      rendering.checkSize(out.length());
    }
    return out.toString();
  }

  private static int columns(Rendering rendering, Object width) {
    int columns = Math.max(0, Values.index(width));
    rendering.checkSize(columns);
    return columns;
  }

  private static String title(String text) {
    StringBuilder out = new StringBuilder(text.length());
    boolean start = true;
    for (int c : text.toLowerCase(Locale.ROOT).codePoints().toArray()) {
      out.appendCodePoint(start ? Character.toTitleCase(c) : c);
      start = PythonText.isSpace(c) || "-([{<".indexOf(c) >= 0;
    }
    return out.toString();
  }

  private static Object replace(Rendering rendering, Object value, Arguments arguments) {
    return TextMethods.replace(
        rendering,
        Values.text(value),
        Values.text(arguments.require(0, "old")),
        Values.text(arguments.require(1, "new")),
        arguments.integer(2, "count", -1));
  }

  private static Object round(Rendering rendering, Object value, Arguments arguments) {
    int digits = arguments.integer(0, "precision", 0);
    String method = arguments.text(1, "method", "common");
    double number = Values.number(value);
    if (method.equals("common")) {
      if (Double.isNaN(number) || Double.isInfinite(number)) {
        return number;
      }
      return new BigDecimal(number)
          .setScale(Math.max(-400, Math.min(400, digits)), RoundingMode.HALF_EVEN)
          .doubleValue();
    }
    double scale = Math.pow(10, digits);
    return switch (method) {
      case "ceil" -> Math.ceil(number * scale) / scale;
      case "floor" -> Math.floor(number * scale) / scale;
      default -> throw JinjaException.runtime("round knows no method '%s'", method);
    };
  }

  private static Object truncate(Rendering rendering, Object value, Arguments arguments) {
    String text = Values.text(value);
    int length = arguments.integer(0, "length", 255);
    boolean killWords = arguments.flag(1, "killwords", false);
    String end = arguments.text(2, "end", "...");
    int leeway = arguments.integer(3, "leeway", 5);
    if (PythonText.length(text) <= (long) length + leeway) {
      return text;
    }
    int kept = length - PythonText.length(end);
    if (kept < 0) {
      throw JinjaException.runtime(
          "truncate to %d characters leaves no room for '%s'", length, end);
    }
    String cut = text.substring(0, text.offsetByCodePoints(0, kept));
    int blank = cut.lastIndexOf(' ');
    return (killWords || blank < 0 ? cut : cut.substring(0, blank)) + end;
  }

  private static String urlEncode(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8)
        .replace("+", "%20")
        .replace("%2F", "/")
        .replace("%7E", "~")
        .replace("*", "%2A");
  }

  private static long wordCount(String text) {
    return Arrays.stream(text.split("(?U)\\W+")).filter(word -> !word.isEmpty()).count();
  }
}
