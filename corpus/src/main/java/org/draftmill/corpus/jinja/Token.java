package org.draftmill.corpus.jinja;

/**
 * A piece of a template.
 *
 * @param text of a name or operator, its spelling; of a string or of data, the characters meant
 * @param line where it begins, from 1
 */
record Token(Type type, String text, int line) {
  enum Type {
    DATA,
    BLOCK_BEGIN,
    BLOCK_END,
    VARIABLE_BEGIN,
    VARIABLE_END,
    NAME,
    STRING,
    INTEGER,
    FLOAT,
    OPERATOR,
    END
  }

  boolean is(Type type, String text) {
    return this.type == type && this.text.equals(text);
  }

  boolean isName(String name) {
    return is(Type.NAME, name);
  }

  boolean isOperator(String operator) {
    return is(Type.OPERATOR, operator);
  }

  @Override
  public String toString() {
    return switch (type) {
      case DATA -> "text";
      case END -> "the end of the template";
      case STRING -> "the string '" + text + "'";
      default -> "'" + text + "'";
    };
  }
}
