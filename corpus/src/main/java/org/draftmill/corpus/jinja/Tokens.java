package org.draftmill.corpus.jinja;

import java.util.List;

/** A list of tokens and a place in it. */
final class Tokens {
  /** The most brackets, conditions and blocks within each other. */
  private static final int MAX_DEPTH = 150;

  private final List<Token> tokens;
  private int position;
  private int depth;

  Tokens(List<Token> tokens) {
    this.tokens = tokens;
  }

  Token peek() {
    return tokens.get(position);
  }

  Token peekSecond() {
    return tokens.get(Math.min(position + 1, tokens.size() - 1));
  }

  Token next() {
    Token token = tokens.get(position);
    if (token.type() != Token.Type.END) {
      position++;
    }
    return token;
  }

  int line() {
    return peek().line();
  }

  boolean takeOperator(String operator) {
    return peek().isOperator(operator) && next() != null;
  }

  boolean takeName(String name) {
    return peek().isName(name) && next() != null;
  }

  void expectOperator(String operator) {
    if (!takeOperator(operator)) {
      throw unexpected("'" + operator + "'");
    }
  }

  String expectName() {
    if (peek().type() != Token.Type.NAME) {
      throw unexpected("a name");
    }
    return next().text();
  }

  void expect(Token.Type type) {
    if (peek().type() != type) {
      throw unexpected(type == Token.Type.BLOCK_END ? "the end of the tag" : "the end of }}");
    }
    next();
  }

  JinjaException unexpected(String wanted) {
    return JinjaException.syntax(line(), "%s was found where %s is needed", peek(), wanted);
  }

  /** Notes that something nested begins, so that the walk over the tree cannot run too deep. */
  void enter() {
    if (++depth > MAX_DEPTH) {
      throw JinjaException.syntax(line(), "it is nested more than %d deep", MAX_DEPTH);
    }
  }

  void leave() {
    depth--;
  }
}
