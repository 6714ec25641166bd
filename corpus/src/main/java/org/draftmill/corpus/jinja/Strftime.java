package org.draftmill.corpus.jinja;

import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/** Python's {@code strftime} in the C locale. */
final class Strftime {
  private Strftime() {}

  static String format(ZonedDateTime time, String format) {
    StringBuilder out = new StringBuilder();
    for (int i = 0; i < format.length(); i++) {
      char c = format.charAt(i);
      if (c != '%' || i + 1 == format.length()) {
        out.append(c);
        continue;
      }
      c = format.charAt(++i);
      boolean unpadded = c == '-' && i + 1 < format.length();
      String field = field(time, unpadded ? format.charAt(++i) : c);
      out.append(unpadded ? field.replaceFirst("^0+(?=\\d)", "") : field);
    }
    return out.toString();
  }

  private static String field(ZonedDateTime time, char c) {
    String pattern =
        switch (c) {
          case 'd' -> "dd";
          case 'm' -> "MM";
          case 'y' -> "yy";
          case 'Y' -> "yyyy";
          case 'H' -> "HH";
          case 'I' -> "hh";
          case 'M' -> "mm";
          case 'S' -> "ss";
          case 'f' -> "SSSSSS";
          case 'j' -> "DDD";
          case 'p' -> "a";
          case 'a' -> "EEE";
          case 'A' -> "EEEE";
          case 'b', 'h' -> "MMM";
          case 'B' -> "MMMM";
          case 'z' -> "xx";
          case 'Z' -> "zzz";
          case 'F' -> "yyyy-MM-dd";
          case 'T', 'X' -> "HH:mm:ss";
          case 'R' -> "HH:mm";
          case 'D', 'x' -> "MM/dd/yy";
          case 'e' -> "ppd";
          case 'c' -> "EEE MMM ppd HH:mm:ss yyyy";
          case '%' -> "'%'";
          default -> throw JinjaException.unsupported("the time format '%%%s' is not known", c);
        };
    return DateTimeFormatter.ofPattern(pattern, Locale.US).format(time);
  }
}
