package org.draftmill.corpus.jinja;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.draftmill.corpus.jinja.Expressions.ArgumentList;

/** Turns tokens into expressions, with the precedence of Jinja2. */
final class ExpressionParser {
  private static final Set<String> COMPARISONS = Set.of("==", "!=", "<", "<=", ">", ">=");

  private final Tokens tokens;

  ExpressionParser(Tokens tokens) {
    this.tokens = tokens;
  }

  /** One expression, conditions included. */
  Expression expression() {
    tokens.enter();
    Expression value = or();
    while (tokens.takeName("if")) {
      Expression condition = or();
      Expression otherwise = tokens.takeName("else") ? expression() : null;
      value = new Expressions.Conditional(condition, value, otherwise);
    }
    tokens.leave();
    return value;
  }

  /** One expression, or several with commas between them as a tuple. */
  Expression tuple(boolean conditions) {
    Expression first = conditions ? expression() : or();
    if (!tokens.peek().isOperator(",")) {
      return first;
    }
    List<Expression> items = new ArrayList<>(List.of(first));
    while (tokens.takeOperator(",") && !endsTuple()) {
      items.add(conditions ? expression() : or());
    }
    return new Expressions.ListLiteral(items, true);
  }

  private boolean endsTuple() {
    Token token = tokens.peek();
    return token.type() == Token.Type.BLOCK_END
        || token.type() == Token.Type.VARIABLE_END
        || token.isOperator(")")
        || token.isName("in")
        || token.isName("recursive");
  }

  private Expression or() {
    Expression left = and();
    while (tokens.takeName("or")) {
      left = new Expressions.Or(left, and());
    }
    return left;
  }

  private Expression and() {
    Expression left = not();
    while (tokens.takeName("and")) {
      left = new Expressions.And(left, not());
    }
    return left;
  }

  private Expression not() {
    if (tokens.takeName("not")) {
      tokens.enter();
      Expression operand = not();
      tokens.leave();
      return new Expressions.Not(operand);
    }
    return comparison();
  }

  private Expression comparison() {
    Expression first = sum();
    List<String> operators = new ArrayList<>();
    List<Expression> others = new ArrayList<>();
    while (true) {
      if (tokens.peek().type() == Token.Type.OPERATOR
          && COMPARISONS.contains(tokens.peek().text())) {
        operators.add(tokens.next().text());
      } else if (tokens.takeName("in")) {
        operators.add("in");
      } else if (tokens.peek().isName("not") && tokens.peekSecond().isName("in")) {
        tokens.next();
        tokens.next();
        operators.add("not in");
      } else {
        return others.isEmpty() ? first : new Expressions.Comparison(first, operators, others);
      }
      others.add(sum());
    }
  }

  private Expression sum() {
    Expression left = concatenation();
    while (tokens.peek().isOperator("+") || tokens.peek().isOperator("-")) {
      String operator = tokens.next().text();
      left = new Expressions.Arithmetic(operator, left, concatenation());
    }
    return left;
  }

  private Expression concatenation() {
    Expression first = product();
    if (!tokens.peek().isOperator("~")) {
      return first;
    }
    List<Expression> parts = new ArrayList<>(List.of(first));
    while (tokens.takeOperator("~")) {
      parts.add(product());
    }
    return new Expressions.Concatenation(parts);
  }

  private Expression product() {
    Expression left = power();
    while (tokens.peek().isOperator("*")
        || tokens.peek().isOperator("/")
        || tokens.peek().isOperator("//")
        || tokens.peek().isOperator("%")) {
      String operator = tokens.next().text();
      left = new Expressions.Arithmetic(operator, left, power());
    }
    return left;
  }

  private Expression power() {
    Expression left = unary(true);
    while (tokens.takeOperator("**")) {
      left = new Expressions.Arithmetic("**", left, unary(true));
    }
    return left;
  }

  private Expression unary(boolean filters) {
    tokens.enter();
    Expression value;
    if (tokens.takeOperator("-")) {
      value = new Expressions.Negation(unary(false));
    } else if (tokens.takeOperator("+")) {
      value = unary(false);
    } else {
      value = postfix(primary());
    }
    tokens.leave();
    return filters ? filters(value) : value;
  }

  private Expression primary() {
    Token token = tokens.peek();
    switch (token.type()) {
      case NAME:
        tokens.next();
        return switch (token.text()) {
          case "true", "True" -> new Expressions.Literal(true);
          case "false", "False" -> new Expressions.Literal(false);
          case "none", "None" -> new Expressions.Literal(null);
          default -> new Expressions.Name(token.text());
        };
      case STRING:
        StringBuilder text = new StringBuilder();
        while (tokens.peek().type() == Token.Type.STRING) {
          text.append(tokens.next().text());
        }
        return new Expressions.Literal(text.toString());
      case INTEGER:
        return new Expressions.Literal(integer(tokens.next()));
      case FLOAT:
        return new Expressions.Literal(Double.valueOf(tokens.next().text()));
      default:
        break;
    }
    if (tokens.takeOperator("(")) {
      return parenthesis();
    }
    if (tokens.takeOperator("[")) {
      return new Expressions.ListLiteral(list(), false);
    }
    if (tokens.takeOperator("{")) {
      return map();
    }
    throw tokens.unexpected("an expression");
  }

  private static Long integer(Token token) {
    try {
      return Long.valueOf(token.text());
    } catch (NumberFormatException e) {
      throw JinjaException.syntax(token.line(), "the number %s is too large", token.text());
    }
  }

  private Expression parenthesis() {
    if (tokens.takeOperator(")")) {
      return new Expressions.ListLiteral(List.of(), true);
    }
    Expression value = tuple(true);
    tokens.expectOperator(")");
    return value;
  }

  private List<Expression> list() {
    List<Expression> items = new ArrayList<>();
    while (!tokens.takeOperator("]")) {
      items.add(expression());
      if (!tokens.peek().isOperator("]")) {
        tokens.expectOperator(",");
      }
    }
    return items;
  }

  private Expression map() {
    List<Expression> keys = new ArrayList<>();
    List<Expression> values = new ArrayList<>();
    while (!tokens.takeOperator("}")) {
      keys.add(expression());
      tokens.expectOperator(":");
      values.add(expression());
      if (!tokens.peek().isOperator("}")) {
        tokens.expectOperator(",");
      }
    }
    return new Expressions.MapLiteral(keys, values);
  }

  /** Attributes, elements and calls behind a value. */
  private Expression postfix(Expression value) {
    Expression result = value;
    while (true) {
      if (tokens.takeOperator(".")) {
        result = attribute(result);
      } else if (tokens.takeOperator("[")) {
        result = subscript(result);
      } else if (tokens.peek().isOperator("(")) {
        result = new Expressions.Call(result, arguments());
      } else {
        return result;
      }
    }
  }

  private Expression attribute(Expression of) {
    if (tokens.peek().type() == Token.Type.INTEGER) {
      return new Expressions.Item(of, new Expressions.Literal(integer(tokens.next())));
    }
    return new Expressions.Attribute(of, tokens.expectName());
  }

  private Expression subscript(Expression of) {
    Expression[] parts = new Expression[3];
    int colons = 0;
    while (!tokens.takeOperator("]")) {
      if (tokens.takeOperator(":")) {
        if (++colons > 2) {
          throw tokens.unexpected("']'");
        }
      } else if (parts[colons] == null) {
        parts[colons] = tuple(true);
      } else {
        throw tokens.unexpected("']'");
      }
    }
    if (colons > 0) {
      return new Expressions.Slice(of, parts[0], parts[1], parts[2]);
    }
    if (parts[0] == null) {
      throw tokens.unexpected("an index");
    }
    return new Expressions.Item(of, parts[0]);
  }

  /** The arguments in round brackets, if there are any. */
  ArgumentList arguments() {
    if (!tokens.takeOperator("(")) {
      return ArgumentList.NONE;
    }
    List<Expression> positional = new ArrayList<>();
    List<String> names = new ArrayList<>();
    List<Expression> named = new ArrayList<>();
    while (!tokens.takeOperator(")")) {
      if (tokens.peek().isOperator("*") || tokens.peek().isOperator("**")) {
        throw new JinjaException(
            JinjaException.Kind.UNSUPPORTED,
            "arguments given as *list or **mapping are not known",
            tokens.line(),
            null);
      }
      if (tokens.peek().type() == Token.Type.NAME && tokens.peekSecond().isOperator("=")) {
        names.add(tokens.expectName());
        tokens.next();
        named.add(expression());
      } else if (names.isEmpty()) {
        positional.add(expression());
      } else {
        throw tokens.unexpected("a named argument");
      }
      if (!tokens.peek().isOperator(")")) {
        tokens.expectOperator(",");
      }
    }
    return new ArgumentList(positional, names, named);
  }

  /** Filters, tests and calls behind a value. */
  private Expression filters(Expression value) {
    Expression result = value;
    while (true) {
      if (tokens.takeOperator("|")) {
        result = filter(result);
      } else if (tokens.takeName("is")) {
        result = test(result);
      } else if (tokens.peek().isOperator("(")) {
        result = new Expressions.Call(result, arguments());
      } else {
        return result;
      }
    }
  }

  /** A filter, behind its bar. */
  Expression filter(Expression input) {
    int line = tokens.line();
    String name = dotted();
    Filters.Filter filter = Filters.find(name);
    if (filter == null) {
      throw new JinjaException(
          JinjaException.Kind.UNSUPPORTED, "the filter '" + name + "' is not known", line, null);
    }
    return new Expressions.FilterCall(filter, input, arguments());
  }

  private Expression test(Expression input) {
    int line = tokens.line();
    boolean negated = tokens.takeName("not");
    String name = dotted();
    Tests.Test test = Tests.find(name);
    if (test == null) {
      throw new JinjaException(
          JinjaException.Kind.UNSUPPORTED, "the test '" + name + "' is not known", line, null);
    }
    ArgumentList arguments = ArgumentList.NONE;
    if (tokens.peek().isOperator("(")) {
      arguments = arguments();
    } else if (startsBareArgument(tokens.peek())) {
      arguments = new ArgumentList(List.of(postfix(primary())), List.of(), List.of());
    }
    return new Expressions.TestCall(test, negated, input, arguments);
  }

  private static boolean startsBareArgument(Token token) {
    return switch (token.type()) {
      case STRING, INTEGER, FLOAT -> true;
      case NAME ->
          !Set.of("else", "or", "and", "if", "is", "in", "not", "recursive").contains(token.text());
      case OPERATOR -> token.isOperator("[") || token.isOperator("{");
      default -> false;
    };
  }

  private String dotted() {
    StringBuilder name = new StringBuilder(tokens.expectName());
    while (tokens.takeOperator(".")) {
      name.append('.').append(tokens.expectName());
    }
    return name.toString();
  }
}
