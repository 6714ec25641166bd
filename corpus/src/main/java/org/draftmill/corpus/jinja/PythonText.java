package org.draftmill.corpus.jinja;

import java.math.BigDecimal;
import java.math.MathContext;

/** Texts and numbers as Python sees them: indexed by code point, written by {@code repr}. */
final class PythonText {
  private PythonText() {}

  /** What {@code str.isspace} holds true. */
  static boolean isSpace(int c) {
    return c == ' '
        || (c >= 0x09 && c <= 0x0D)
        || (c >= 0x1C && c <= 0x1F)
        || c == 0x85
        || c == 0xA0
        || (c > 0xFF && (Character.isSpaceChar(c) && c != 0x200B));
  }

  /**
   * {@code str.strip}, {@code lstrip} and {@code rstrip}.
   *
   * @param characters those to strip; null for whitespace
   */
  static String strip(String text, String characters, boolean left, boolean right) {
    int from = 0;
    int to = text.length();
    while (left && from < to && strips(text.codePointAt(from), characters)) {
      from += Character.charCount(text.codePointAt(from));
    }
    while (right && from < to && strips(text.codePointBefore(to), characters)) {
      to -= Character.charCount(text.codePointBefore(to));
    }
    return text.substring(from, to);
  }

  private static boolean strips(int c, String characters) {
    return characters == null ? isSpace(c) : characters.indexOf(c) >= 0;
  }

  /** Number of code points. */
  static int length(String text) {
    return text.codePointCount(0, text.length());
  }

  /** The code points, each as a text. */
  static String[] characters(String text) {
    return text.codePoints().mapToObj(Character::toString).toArray(String[]::new);
  }

  /** Compares by code point, as Python does; UTF-16 orders the astral planes otherwise. */
  static int compare(String a, String b) {
    int n = Math.min(a.length(), b.length());
    for (int i = 0; i < n; i++) {
      char x = a.charAt(i);
      char y = b.charAt(i);
      if (x != y) {
        boolean sameKind = Character.isSurrogate(x) == Character.isSurrogate(y);
        return sameKind ? Character.compare(x, y) : Character.isSurrogate(x) ? 1 : -1;
      }
    }
    return Integer.compare(a.length(), b.length());
  }

  /** {@code repr} of a text. */
  static String quote(String text) {
    char mark = text.indexOf('\'') >= 0 && text.indexOf('"') < 0 ? '"' : '\'';
    StringBuilder out = new StringBuilder().append(mark);
    text.codePoints()
        .forEach(
            c -> {
              switch (c) {
                case '\n' -> out.append("\\n");
                case '\r' -> out.append("\\r");
                case '\t' -> out.append("\\t");
                case '\\' -> out.append("\\\\");
                default -> {
                  if (c == mark) {
                    out.append('\\').append(mark);
                  } else if (c < 0x20 || (c >= 0x7F && c <= 0xA0) || c == 0xAD) {
                    out.append("\\x%02x".formatted(c));
                  } else {
                    out.appendCodePoint(c);
                  }
                }
              }
            });
    return out.append(mark).toString();
  }

  /** {@code repr} of a float: the shortest digits that give it back. */
  static String number(double value) {
    if (Double.isNaN(value)) {
      return "nan";
    }
    if (Double.isInfinite(value)) {
      return value > 0 ? "inf" : "-inf";
    }
    if (value == 0) {
      return 1 / value < 0 ? "-0.0" : "0.0";
    }
    BigDecimal exact = new BigDecimal(value);
    BigDecimal digits = exact;
    for (int precision = 1; precision <= 17; precision++) {
      digits = exact.round(new MathContext(precision));
      if (digits.doubleValue() == value) {
        break;
      }
    }
    digits = digits.stripTrailingZeros();
    int exponent = digits.precision() - digits.scale() - 1;
    if (exponent >= -4 && exponent < 16) {
      String plain = digits.toPlainString();
      return plain.indexOf('.') < 0 ? plain + ".0" : plain;
    }
    String unscaled = digits.unscaledValue().abs().toString();
    return (value < 0 ? "-" : "")
        + unscaled.charAt(0)
        + (unscaled.length() > 1 ? "." + unscaled.substring(1) : "")
        + "e"
        + (exponent < 0 ? "-" : "+")
        + (Math.abs(exponent) < 10 ? "0" : "")
        + Math.abs(exponent);
  }

  /** The characters that a string literal means. */
  static String unescape(String literal, int line) {
    if (literal.indexOf('\\') < 0) {
      return literal;
    }
    StringBuilder out = new StringBuilder();
    for (int i = 0; i < literal.length(); i++) {
      char c = literal.charAt(i);
      if (c != '\\') {
        out.append(c);
        continue;
      }
      char escape = literal.charAt(++i);
      switch (escape) {
        case 'n' -> out.append('\n');
        case 't' -> out.append('\t');
        case 'r' -> out.append('\r');
        case 'b' -> out.append('\b');
        case 'f' -> out.append('\f');
        case 'v' -> out.append('\u000B');
        case 'a' -> out.append('\u0007');
        case '\\', '\'', '"' -> out.append(escape);
        case '\n' -> {} // a line that goes on
        case 'x', 'u', 'U' -> {
          int digits = escape == 'x' ? 2 : escape == 'u' ? 4 : 8;
          try {
            out.appendCodePoint(Integer.parseInt(literal.substring(i + 1, i + 1 + digits), 16));
          } catch (IndexOutOfBoundsException | IllegalArgumentException e) {
            throw JinjaException.syntax(line, "a string holds an incomplete \\%s escape", escape);
          }
          i += digits;
        }
        default -> {
          int digits = 0;
          while (digits < 3
              && i + digits < literal.length()
              && literal.charAt(i + digits) >= '0'
              && literal.charAt(i + digits) <= '7') {
            digits++;
          }
          if (digits > 0) {
            out.append((char) Integer.parseInt(literal.substring(i, i + digits), 8));
            i += digits - 1;
          } else {
            out.append('\\').append(escape);
          }
        }
      }
    }
    return out.toString();
  }
}
