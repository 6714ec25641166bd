package org.draftmill.corpus.jinja;

import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Python's {@code '...%s...' % values}, for texts, whole and fractional numbers. */
final class PercentFormat {
  private static final Pattern FIELD =
      Pattern.compile("%(?:([-+ 0#]*)(\\d{0,4})(?:\\.(\\d{1,3}))?([a-zA-Z%])|)");

  private PercentFormat() {}

  static String format(Rendering rendering, String format, List<Object> values) {
    Matcher field = FIELD.matcher(format);
    Iterator<Object> next = values.iterator();
    StringBuilder out = new StringBuilder();
    int position = 0;
    while (field.find()) {
      out.append(format, position, field.start());
      position = field.end();
      out.append("%".equals(field.group(4)) ? "%" : one(field, next, format));
      rendering.checkSize(out.length());
    }
    if (next.hasNext()) {
      throw JinjaException.runtime("the format '%s' does not use all its values", format);
    }
    return out.append(format, position, format.length()).toString();
  }

  private static String one(Matcher field, Iterator<Object> next, String format) {
    if (field.group(4) == null || !next.hasNext()) {
      throw JinjaException.runtime(
          "the format '%s' has an incomplete field or too few values", format);
    }
    Object value = next.next();
    String precision = field.group(3);
    String flags = field.group(1);
    return switch (field.group(4).charAt(0)) {
      case 's' -> pad(cut(Values.text(value), precision), flags, field.group(2));
      case 'r' -> pad(cut(Values.repr(value), precision), flags, field.group(2));
      case 'd', 'i', 'u' -> java("%" + flags + width(flags, field) + "d", truncated(value));
      case 'x', 'X', 'o' ->
          java("%" + flags + width(flags, field) + field.group(4), Values.whole(value));
      case 'f', 'F' ->
          java(
              "%" + flags + width(flags, field) + "." + (precision == null ? "6" : precision) + "f",
              Values.number(value));
      case 'e', 'E' ->
          java(
              "%" + flags + width(flags, field) + "." + (precision == null ? "6" : precision) + "e",
              Values.number(value));
      default ->
          throw JinjaException.unsupported("the format field '%s' is not known", field.group());
    };
  }

  private static String width(String flags, Matcher field) {
    // Java wants a width where it is told how to fill it.
    boolean needs = flags.contains("0") || flags.contains("-");
    return field.group(2).isEmpty() && needs ? "1" : field.group(2);
  }

  private static String java(String format, Object value) {
    try {
      return String.format(Locale.ROOT, format, value);
    } catch (IllegalArgumentException e) {
      throw JinjaException.unsupported("the format field '%s' is not known", format);
    }
  }

  private static long truncated(Object value) {
    return value instanceof Double number ? (long) (double) number : Values.whole(value);
  }

  private static String cut(String text, String precision) {
    return precision == null || PythonText.length(text) <= Integer.parseInt(precision)
        ? text
        : text.substring(0, text.offsetByCodePoints(0, Integer.parseInt(precision)));
  }

  private static String pad(String text, String flags, String width) {
    int missing = width.isEmpty() ? 0 : Integer.parseInt(width) - PythonText.length(text);
    String blanks = " ".repeat(Math.max(0, missing));
    return flags.contains("-") ? text + blanks : blanks + text;
  }
}
