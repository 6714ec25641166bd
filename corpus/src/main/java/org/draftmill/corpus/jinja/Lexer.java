package org.draftmill.corpus.jinja;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Cuts a template into tokens, with the whitespace control of Jinja2 under {@code trim_blocks} (the
 * newline behind a block or comment goes) and {@code lstrip_blocks} (blanks between the start of a
 * line and a block or comment go), which {@code -} and {@code +} override.
 */
final class Lexer {
  private static final Pattern OPENING = Pattern.compile("\\{([%{#])([-+]?)");
  private static final Pattern RAW = Pattern.compile("\\s*raw\\s*(?:(-%}\\s*)|(\\+%})|(%}\n?))");
  private static final Pattern END_RAW =
      Pattern.compile("\\{%([-+]?)\\s*endraw\\s*(?:-%}\\s*|\\+%}|%}\n?)");
  private static final Pattern BLOCK_END = Pattern.compile("-%}\\s*|\\+%}|%}\n?");
  private static final Pattern VARIABLE_END = Pattern.compile("-}}\\s*|}}");
  private static final Pattern COMMENT_END = Pattern.compile("-#}\\s*|\\+#}|#}\n?");
  private static final Pattern NAME = Pattern.compile("[\\p{L}_][\\p{L}\\p{N}_]*");
  private static final Pattern NUMBER =
      Pattern.compile("\\d[\\d_]*(\\.\\d[\\d_]*)?([eE][-+]?\\d+)?");
  private static final Pattern STRING =
      Pattern.compile("'(?:[^'\\\\]|\\\\.)*+'|\"(?:[^\"\\\\]|\\\\.)*+\"", Pattern.DOTALL);
  private static final Pattern OPERATOR =
      Pattern.compile("//|\\*\\*|==|!=|>=|<=|[-+*/%~\\[\\](){}<>=.:|,;]");

  private final String source;
  private final List<Token> tokens = new ArrayList<>();
  private int position;
  private int line = 1;
  private boolean lineStarting = true; // nothing of the current line was kept yet

  private Lexer(String source) {
    String unix = source.replace("\r\n", "\n").replace('\r', '\n');
    this.source = unix.endsWith("\n") ? unix.substring(0, unix.length() - 1) : unix;
  }

  /**
   * @throws JinjaException if something is not closed or no token
   */
  static List<Token> tokens(String source) {
    Lexer lexer = new Lexer(source);
    lexer.run();
    return lexer.tokens;
  }

  private void run() {
    Matcher opening = OPENING.matcher(source);
    while (opening.find(position)) {
      data(source.substring(position, opening.start()), opening.group(1), opening.group(2));
      moveTo(opening.end());
      switch (opening.group(1)) {
        case "#" -> comment();
        case "{" -> expression(Token.Type.VARIABLE_BEGIN, Token.Type.VARIABLE_END, VARIABLE_END);
        default -> {
          if (!raw()) {
            expression(Token.Type.BLOCK_BEGIN, Token.Type.BLOCK_END, BLOCK_END);
          }
        }
      }
    }
    add(Token.Type.DATA, source.substring(position));
    moveTo(source.length());
    tokens.add(new Token(Token.Type.END, "", line));
  }

  /** Adds the text before an opening, stripped as the opening wants it. */
  private void data(String text, String opening, String sign) {
    if (sign.equals("-")) {
      text = PythonText.strip(text, null, false, true);
    } else if (!sign.equals("+") && !opening.equals("{")) {
      int lineStart = text.lastIndexOf('\n') + 1;
      if ((lineStart > 0 || lineStarting) && isBlank(text, lineStart)) {
        text = text.substring(0, lineStart);
      }
    }
    add(Token.Type.DATA, text);
  }

  private static boolean isBlank(String text, int from) {
    for (int i = from; i < text.length(); i++) {
      if (text.charAt(i) != ' ' && text.charAt(i) != '\t') {
        return false;
      }
    }
    return true;
  }

  private void comment() {
    Matcher end = COMMENT_END.matcher(source);
    if (!end.find(position)) {
      throw JinjaException.syntax(line, "the comment that begins here is not closed by #}");
    }
    moveTo(end.end());
  }

  /** Takes a raw block whole, if one begins here. */
  private boolean raw() {
    Matcher begin = RAW.matcher(source).region(position, source.length());
    if (!begin.lookingAt()) {
      return false;
    }
    moveTo(begin.end());
    Matcher end = END_RAW.matcher(source);
    if (!end.find(position)) {
      throw JinjaException.syntax(line, "the raw block that begins here is not closed");
    }
    data(source.substring(position, end.start()), "%", end.group(1));
    moveTo(end.end());
    return true;
  }

  private void expression(Token.Type begin, Token.Type end, Pattern closing) {
    int from = line;
    add(begin, begin == Token.Type.BLOCK_BEGIN ? "{%" : "{{");
    Deque<String> open = new ArrayDeque<>();
    while (position < source.length()) {
      if (PythonText.isSpace(source.charAt(position))) {
        moveTo(position + 1);
      } else if (open.isEmpty() && take(closing, end) != null) {
        return;
      } else if (take(NAME, Token.Type.NAME) == null && !number() && !string()) {
        balance(operator(), open);
      }
    }
    throw JinjaException.syntax(from, "the tag that begins here is not closed");
  }

  private String operator() {
    String operator = take(OPERATOR, Token.Type.OPERATOR);
    if (operator == null) {
      throw JinjaException.syntax(
          line, "the character '%s' has no meaning here", source.charAt(position));
    }
    return operator;
  }

  private void balance(String operator, Deque<String> open) {
    switch (operator) {
      case "(" -> open.push(")");
      case "[" -> open.push("]");
      case "{" -> open.push("}");
      case ")", "]", "}" -> {
        if (open.isEmpty() || !open.pop().equals(operator)) {
          throw JinjaException.syntax(line, "'%s' closes nothing", operator);
        }
      }
      default -> {}
    }
  }

  private boolean number() {
    Matcher number = NUMBER.matcher(source).region(position, source.length());
    if (!number.lookingAt()) {
      return false;
    }
    boolean whole = number.group(1) == null && number.group(2) == null;
    add(whole ? Token.Type.INTEGER : Token.Type.FLOAT, number.group().replace("_", ""));
    moveTo(number.end());
    return true;
  }

  private boolean string() {
    Matcher string = STRING.matcher(source).region(position, source.length());
    if (!string.lookingAt()) {
      return false;
    }
    String quoted = string.group();
    add(Token.Type.STRING, PythonText.unescape(quoted.substring(1, quoted.length() - 1), line));
    moveTo(string.end());
    return true;
  }

  private String take(Pattern pattern, Token.Type type) {
    Matcher matcher = pattern.matcher(source).region(position, source.length());
    if (!matcher.lookingAt()) {
      return null;
    }
    add(type, matcher.group().intern());
    moveTo(matcher.end());
    return matcher.group();
  }

  private void add(Token.Type type, String text) {
    if (type != Token.Type.DATA || !text.isEmpty()) {
      tokens.add(new Token(type, text, line));
    }
  }

  private void moveTo(int to) {
    for (int i = position; i < to; i++) {
      if (source.charAt(i) == '\n') {
        line++;
      }
    }
    lineStarting = to > position ? source.charAt(to - 1) == '\n' : lineStarting;
    position = to;
  }
}
