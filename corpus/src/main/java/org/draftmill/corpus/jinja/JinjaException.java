package org.draftmill.corpus.jinja;

/** A template that cannot be parsed or a rendering that cannot go on. */
public final class JinjaException extends RuntimeException {
  /** What kind of trouble it is. */
  public enum Kind {
    /** The template is no valid Jinja. */
    SYNTAX,
    /** The template uses something that this interpreter does not know. */
    UNSUPPORTED,
    /** An operation failed on the values that it met. */
    RUNTIME,
    /** The template itself refused by {@code raise_exception}. */
    RAISED,
    /** Rendering took too many steps or too much memory. */
    LIMIT
  }

  private final Kind kind;
  private final int line; // 0 while unknown

  JinjaException(Kind kind, String message) {
    this(kind, message, 0, null);
  }

  JinjaException(Kind kind, String message, int line, Throwable cause) {
    super(message, cause);
    this.kind = kind;
    this.line = line;
  }

  static JinjaException runtime(String format, Object... arguments) {
    return new JinjaException(Kind.RUNTIME, format.formatted(arguments));
  }

  static JinjaException unsupported(String format, Object... arguments) {
    return new JinjaException(Kind.UNSUPPORTED, format.formatted(arguments));
  }

  static JinjaException syntax(int line, String format, Object... arguments) {
    return new JinjaException(Kind.SYNTAX, format.formatted(arguments), line, null);
  }

  /** The same trouble, with the line where it arose; an inner line is kept. */
  JinjaException at(int line) {
    return this.line != 0 ? this : new JinjaException(kind, super.getMessage(), line, this);
  }

  public Kind kind() {
    return kind;
  }

  /** The line of the template, from 1; 0 where it is not known. */
  public int line() {
    return line;
  }

  /** The message without the line. */
  public String reason() {
    return super.getMessage();
  }

  @Override
  public String getMessage() {
    return line == 0 ? super.getMessage() : "line " + line + ": " + super.getMessage();
  }
}
