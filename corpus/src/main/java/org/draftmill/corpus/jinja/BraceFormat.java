package org.draftmill.corpus.jinja;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Python's {@code str.format} with plain fields: {@code {}}, {@code {0}}, {@code {name}}. */
final class BraceFormat {
  private static final Pattern FIELD = Pattern.compile("\\{\\{|}}|\\{([^{}]*)}|[{}]");

  private BraceFormat() {}

  static String format(Rendering rendering, String format, Arguments arguments) {
    StringBuilder out = new StringBuilder();
    Matcher field = FIELD.matcher(format);
    int position = 0;
    int next = 0;
    while (field.find()) {
      out.append(format, position, field.start());
      position = field.end();
      String name = field.group(1);
      if (name == null) {
        if (field.group().length() == 1) {
          throw JinjaException.runtime("the format '%s' has a single brace", format);
        }
        out.append(field.group().charAt(0));
      } else if (name.isEmpty()) {
        out.append(Values.text(arguments.require(next++, "")));
      } else if (name.matches("\\d{1,4}")) {
        out.append(Values.text(arguments.require(Integer.parseInt(name), "")));
      } else if (name.matches("\\w+")) {
        out.append(Values.text(arguments.require(Integer.MAX_VALUE, name)));
      } else {
        throw JinjaException.unsupported("the format field '{%s}' is not known", name);
      }
      rendering.checkSize(out.length());
    }
    return out.append(format, position, format.length()).toString();
  }
}
