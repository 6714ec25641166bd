package org.draftmill.corpus.jinja;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.IntPredicate;

/** Python's methods of {@code str}. */
final class TextMethods {
  private static final Set<String> NAMES =
      Set.of(
          "strip",
          "lstrip",
          "rstrip",
          "split",
          "rsplit",
          "splitlines",
          "startswith",
          "endswith",
          "upper",
          "lower",
          "casefold",
          "title",
          "capitalize",
          "swapcase",
          "replace",
          "find",
          "rfind",
          "index",
          "rindex",
          "count",
          "join",
          "format",
          "zfill",
          "center",
          "ljust",
          "rjust",
          "isdigit",
          "isdecimal",
          "isnumeric",
          "isalpha",
          "isalnum",
          "isspace",
          "isupper",
          "islower",
          "removeprefix",
          "removesuffix",
          "partition",
          "rpartition");

  private TextMethods() {}

  static boolean isMethod(String name) {
    return NAMES.contains(name);
  }

  static Object call(Rendering rendering, String text, String name, Arguments arguments) {
    return switch (name) {
      case "strip" -> PythonText.strip(text, arguments.text(0, "chars", null), true, true);
      case "lstrip" -> PythonText.strip(text, arguments.text(0, "chars", null), true, false);
      case "rstrip" -> PythonText.strip(text, arguments.text(0, "chars", null), false, true);
      case "split" -> split(text, arguments, false);
      case "rsplit" -> split(text, arguments, true);
      case "splitlines" -> lines(text, arguments.flag(0, "keepends", false));
      case "startswith" -> borders(text, arguments, true);
      case "endswith" -> borders(text, arguments, false);
      case "upper" -> text.toUpperCase(Locale.ROOT);
      case "lower", "casefold" -> text.toLowerCase(Locale.ROOT);
      case "title" -> title(text);
      case "capitalize" -> capitalize(text);
      case "swapcase" -> swapCase(text);
      case "replace" ->
          replace(
              rendering,
              text,
              (String) needed(arguments, 0, "old"),
              (String) needed(arguments, 1, "new"),
              arguments.integer(2, "count", -1));
      case "find" -> (long) find(text, arguments, false);
      case "rfind" -> (long) find(text, arguments, true);
      case "index", "rindex" -> index(text, arguments, name.equals("rindex"));
      case "count" -> count(text, (String) needed(arguments, 0, "sub"));
      case "join" -> join(rendering, text, Values.list(arguments.require(0, "iterable")));
      case "format" -> BraceFormat.format(rendering, text, arguments);
      case "zfill" -> zeroFill(rendering, text, arguments.integer(0, "width", 0));
      case "center", "ljust", "rjust" ->
          pad(
              rendering,
              text,
              name,
              arguments.integer(0, "width", 0),
              arguments.text(1, "fillchar", " "));
      case "isdigit", "isdecimal", "isnumeric" -> all(text, Character::isDigit);
      case "isalpha" -> all(text, Character::isLetter);
      case "isalnum" -> all(text, Character::isLetterOrDigit);
      case "isspace" -> all(text, PythonText::isSpace);
      case "isupper" ->
          text.chars().anyMatch(Character::isUpperCase)
              && text.codePoints().noneMatch(Character::isLowerCase);
      case "islower" ->
          text.chars().anyMatch(Character::isLowerCase)
              && text.codePoints().noneMatch(Character::isUpperCase);
      case "removeprefix" -> {
        String prefix = (String) needed(arguments, 0, "prefix");
        yield text.startsWith(prefix) ? text.substring(prefix.length()) : text;
      }
      case "removesuffix" -> {
        String suffix = (String) needed(arguments, 0, "suffix");
        yield text.endsWith(suffix) ? text.substring(0, text.length() - suffix.length()) : text;
      }
      case "partition" -> partition(text, (String) needed(arguments, 0, "sep"), false);
      case "rpartition" -> partition(text, (String) needed(arguments, 0, "sep"), true);
      default -> throw JinjaException.unsupported("the method '%s' of a text is not known", name);
    };
  }

  private static Object needed(Arguments arguments, int place, String name) {
    Object value = arguments.require(place, name);
    if (!(value instanceof String)) {
      throw JinjaException.runtime(
          "the argument '%s' must be a text, not %s", name, Values.typeName(value));
    }
    return value;
  }

  private static List<Object> split(String text, Arguments arguments, boolean fromRight) {
    String separator = arguments.text(0, "sep", null);
    int most = arguments.integer(1, "maxsplit", -1);
    if (separator != null && separator.isEmpty()) {
      throw JinjaException.runtime("a text cannot be split at an empty separator");
    }
    List<Object> parts = new ArrayList<>();
    if (separator == null) {
      return splitAtBlanks(text, most, fromRight);
    }
    if (fromRight) {
      int end = text.length();
      int at;
      while ((most < 0 || parts.size() < most)
          && (at = text.lastIndexOf(separator, end - separator.length())) >= 0
          && end >= separator.length()) {
        parts.add(0, text.substring(at + separator.length(), end));
        end = at;
      }
      parts.add(0, text.substring(0, end));
      return parts;
    }
    int start = 0;
    int at;
    while ((most < 0 || parts.size() < most) && (at = text.indexOf(separator, start)) >= 0) {
      parts.add(text.substring(start, at));
      start = at + separator.length();
    }
    parts.add(text.substring(start));
    return parts;
  }

  private static List<Object> splitAtBlanks(String text, int most, boolean fromRight) {
    String rest = PythonText.strip(text, null, true, true);
    List<Object> parts = new ArrayList<>();
    while (!rest.isEmpty()) {
      int at = most >= 0 && parts.size() >= most ? -1 : blank(rest, fromRight);
      if (at < 0) {
        parts.add(
            fromRight ? 0 : parts.size(), most < 0 ? rest : unstripped(text, rest, fromRight));
        return parts;
      }
      parts.add(
          fromRight ? 0 : parts.size(), fromRight ? rest.substring(at + 1) : rest.substring(0, at));
      rest =
          fromRight
              ? PythonText.strip(rest.substring(0, at), null, false, true)
              : PythonText.strip(rest.substring(at), null, true, false);
    }
    return parts;
  }

  /** The last part of a bounded split keeps the blanks at its far end. */
  private static String unstripped(String text, String rest, boolean fromRight) {
    return fromRight
        ? PythonText.strip(text.substring(0, text.indexOf(rest) + rest.length()), null, false, true)
        : text.substring(text.lastIndexOf(rest));
  }

  private static int blank(String text, boolean last) {
    for (int i = 0; i < text.length(); i++) {
      int at = last ? text.length() - 1 - i : i;
      if (PythonText.isSpace(text.charAt(at))) {
        return at;
      }
    }
    return -1;
  }

  private static List<Object> lines(String text, boolean keepEnds) {
    List<Object> lines = new ArrayList<>();
    int start = 0;
    while (start < text.length()) {
      int end = start;
      while (end < text.length() && !isLineEnd(text.charAt(end))) {
        end++;
      }
      int next = end < text.length() ? end + 1 : end;
      if (next < text.length() && text.charAt(end) == '\r' && text.charAt(next) == '\n') {
        next++;
      }
      lines.add(text.substring(start, keepEnds ? next : end));
      start = next;
    }
    return lines;
  }

  private static boolean isLineEnd(char c) {
    return (c >= '\n' && c <= '\r')
        || (c >= 0x1C && c <= 0x1E)
        || c == 0x85
        || c == 0x2028
        || c == 0x2029;
  }

  private static boolean borders(String text, Arguments arguments, boolean start) {
    Object affix = arguments.require(0, "prefix");
    for (Object one : affix instanceof Tuple tuple ? tuple : Arrays.asList(affix)) {
      if (!(one instanceof String part)) {
        throw JinjaException.runtime(
            "a text starts or ends with a text, not with %s", Values.typeName(one));
      }
      if (start ? text.startsWith(part) : text.endsWith(part)) {
        return true;
      }
    }
    return false;
  }

  static String title(String text) {
    StringBuilder out = new StringBuilder(text.length());
    boolean within = false;
    for (int c : text.codePoints().toArray()) {
      out.appendCodePoint(within ? Character.toLowerCase(c) : Character.toTitleCase(c));
      within = Character.isLetter(c);
    }
    return out.toString();
  }

  static String capitalize(String text) {
    if (text.isEmpty()) {
      return text;
    }
    int first = text.offsetByCodePoints(0, 1);
    return text.substring(0, first).toUpperCase(Locale.ROOT)
        + text.substring(first).toLowerCase(Locale.ROOT);
  }

  private static String swapCase(String text) {
    StringBuilder out = new StringBuilder(text.length());
    text.codePoints()
        .map(c -> Character.isUpperCase(c) ? Character.toLowerCase(c) : Character.toUpperCase(c))
        .forEach(out::appendCodePoint);
    return out.toString();
  }

  static String replace(
      Rendering rendering, String text, String old, String replacement, int most) {
    int left = most < 0 ? Integer.MAX_VALUE : most;
    StringBuilder out = new StringBuilder();
    int start = 0;
    while (left-- > 0) {
      int at = text.indexOf(old, start);
      if (at < 0 || (old.isEmpty() && start > text.length())) {
        break;
      }
      out.append(text, Math.min(start, at), at).append(replacement);
      rendering.checkSize(out.length());
      if (old.isEmpty()) {
        if (at == text.length()) {
          return out.toString();
        }
        int next = text.offsetByCodePoints(at, 1);
        out.append(text, at, next);
        start = next;
      } else {
        start = at + old.length();
      }
    }
    return out.append(text, start, text.length()).toString();
  }

  private static int find(String text, Arguments arguments, boolean last) {
    String part = (String) needed(arguments, 0, "sub");
    int length = PythonText.length(text);
    int from = within(arguments.integer(1, "start", 0), length);
    int to = within(arguments.integer(2, "end", length), length);
    if (from > to) {
      return -1;
    }
    int base = text.offsetByCodePoints(0, from);
    String range = text.substring(base, text.offsetByCodePoints(base, to - from));
    int at = last ? range.lastIndexOf(part) : range.indexOf(part);
    return at < 0 ? -1 : from + range.codePointCount(0, at);
  }

  private static int within(int index, int length) {
    return Math.max(0, Math.min(length, index < 0 ? index + length : index));
  }

  private static Object index(String text, Arguments arguments, boolean last) {
    int at = find(text, arguments, last);
    if (at < 0) {
      throw JinjaException.runtime("the text does not hold what is looked for");
    }
    return (long) at;
  }

  private static long count(String text, String part) {
    if (part.isEmpty()) {
      return PythonText.length(text) + 1L;
    }
    long count = 0;
    for (int at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length())) {
      count++;
    }
    return count;
  }

  private static String join(Rendering rendering, String separator, List<Object> items) {
    StringBuilder out = new StringBuilder();
    boolean first = true;
    for (Object item : items) {
      if (!(item instanceof String text)) {
        throw JinjaException.runtime("only texts can be joined, not %s", Values.typeName(item));
      }
      out.append(first ? "" : separator).append(text);
      first = false;
      rendering.checkSize(out.length());
    }
    return out.toString();
  }

  private static String zeroFill(Rendering rendering, String text, int width) {
    rendering.checkSize(width);
    int sign = text.startsWith("-") || text.startsWith("+") ? 1 : 0;
    String zeros = "0".repeat(Math.max(0, width - PythonText.length(text)));
    return text.substring(0, sign) + zeros + text.substring(sign);
  }

  static String pad(Rendering rendering, String text, String side, int width, String fill) {
    rendering.checkSize(width);
    if (PythonText.length(fill) != 1) {
      throw JinjaException.runtime("a text is filled with one character, not '%s'", fill);
    }
    int missing = Math.max(0, width - PythonText.length(text));
    int left =
        switch (side) {
          case "ljust" -> 0;
          case "rjust" -> missing;
          default -> missing / 2 + (missing & width & 1);
        };
    return fill.repeat(left) + text + fill.repeat(missing - left);
  }

  private static boolean all(String text, IntPredicate predicate) {
    return !text.isEmpty() && text.codePoints().allMatch(predicate);
  }

  private static Tuple partition(String text, String separator, boolean last) {
    int at = last ? text.lastIndexOf(separator) : text.indexOf(separator);
    if (at < 0) {
      return new Tuple(last ? List.of("", "", text) : List.of(text, "", ""));
    }
    return new Tuple(
        List.of(text.substring(0, at), separator, text.substring(at + separator.length())));
  }
}
