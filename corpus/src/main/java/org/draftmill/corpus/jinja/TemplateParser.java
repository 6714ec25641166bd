package org.draftmill.corpus.jinja;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.draftmill.corpus.jinja.Expressions.ArgumentList;
import org.draftmill.corpus.jinja.Statements.Body;
import org.draftmill.corpus.jinja.Statements.Signature;

/** Turns tokens into statements. */
final class TemplateParser {
  private static final Set<String> ENDS =
      Set.of(
          "elif",
          "else",
          "endif",
          "endfor",
          "endset",
          "endmacro",
          "endcall",
          "endfilter",
          "endwith",
          "endgeneration");

  private final Tokens tokens;
  private final ExpressionParser expressions;
  private int loops;

  private TemplateParser(List<Token> tokens) {
    this.tokens = new Tokens(tokens);
    this.expressions = new ExpressionParser(this.tokens);
  }

  /**
   * @throws JinjaException if the template is no Jinja or uses what is not known
   */
  static Body parse(String source) {
    TemplateParser parser = new TemplateParser(Lexer.tokens(source));
    Body body = parser.body();
    if (parser.tokens.peek().type() != Token.Type.END) {
      parser.tokens.next();
      throw JinjaException.syntax(
          parser.tokens.line(), "'%s' closes nothing", parser.tokens.peek().text());
    }
    return body;
  }

  /** Statements up to a tag that ends or continues the block around them. */
  private Body body() {
    tokens.enter();
    List<Statement> statements = new ArrayList<>();
    List<Integer> lines = new ArrayList<>();
    while (!atEnd()) {
      lines.add(tokens.line());
      Token token = tokens.next();
      switch (token.type()) {
        case DATA -> statements.add(new Statements.Text(token.text()));
        case VARIABLE_BEGIN -> {
          statements.add(new Statements.Output(expressions.tuple(true)));
          tokens.expect(Token.Type.VARIABLE_END);
        }
        default -> statements.add(tag());
      }
    }
    tokens.leave();
    return new Body(statements, lines.stream().mapToInt(Integer::intValue).toArray());
  }

  private boolean atEnd() {
    Token token = tokens.peek();
    return token.type() == Token.Type.END
        || (token.type() == Token.Type.BLOCK_BEGIN
            && tokens.peekSecond().type() == Token.Type.NAME
            && ENDS.contains(tokens.peekSecond().text()));
  }

  private Statement tag() {
    int line = tokens.line();
    String name = tokens.expectName();
    return switch (name) {
      case "if" -> ifStatement();
      case "for" -> forStatement();
      case "set" -> set();
      case "macro" -> macro();
      case "call" -> call();
      case "filter" -> filter();
      case "with" -> with();
      case "generation" -> {
        tokens.expect(Token.Type.BLOCK_END);
        yield new Statements.Generation(bodyUntil("endgeneration"));
      }
      case "break", "continue" -> jump(name, line);
      default ->
          throw new JinjaException(
              JinjaException.Kind.UNSUPPORTED, "the tag '" + name + "' is not known", line, null);
    };
  }

  /** A body and the tag that must end it. */
  private Body bodyUntil(String end) {
    Body body = body();
    close(end);
    return body;
  }

  private void close(String end) {
    String found = takeEnd();
    if (!found.equals(end)) {
      throw JinjaException.syntax(tokens.line(), "'%s' was found where '%s' is needed", found, end);
    }
    tokens.expect(Token.Type.BLOCK_END);
  }

  /** The name of the tag that ended a body; the rest of the tag is still to come. */
  private String takeEnd() {
    if (tokens.peek().type() == Token.Type.END) {
      throw JinjaException.syntax(tokens.line(), "the template ends within a block");
    }
    tokens.next();
    return tokens.next().text();
  }

  private Statement jump(String name, int line) {
    if (loops == 0) {
      throw JinjaException.syntax(line, "'%s' stands outside of a loop", name);
    }
    tokens.expect(Token.Type.BLOCK_END);
    return new Statements.Jump(
        name.equals("break") ? Statement.Flow.BREAK : Statement.Flow.CONTINUE);
  }

  private Statement ifStatement() {
    List<Expression> conditions = new ArrayList<>();
    List<Body> bodies = new ArrayList<>();
    String end;
    do {
      conditions.add(expressions.tuple(true));
      tokens.expect(Token.Type.BLOCK_END);
      bodies.add(body());
      end = takeEnd();
    } while (end.equals("elif"));
    Body otherwise = null;
    if (end.equals("else")) {
      tokens.expect(Token.Type.BLOCK_END);
      otherwise = body();
      end = takeEnd();
    }
    if (!end.equals("endif")) {
      throw JinjaException.syntax(tokens.line(), "'%s' was found where 'endif' is needed", end);
    }
    tokens.expect(Token.Type.BLOCK_END);
    return new Statements.If(conditions, bodies, otherwise);
  }

  private Statement forStatement() {
    Target target = targets();
    if (!tokens.takeName("in")) {
      throw tokens.unexpected("'in'");
    }
    Expression iterable = expressions.tuple(false);
    Expression condition = tokens.takeName("if") ? expressions.expression() : null;
    boolean recursive = tokens.takeName("recursive");
    tokens.expect(Token.Type.BLOCK_END);
    loops++;
    Body body = body();
    loops--;
    Body otherwise = null;
    if (tokens.peekSecond().isName("else")) {
      takeEnd();
      tokens.expect(Token.Type.BLOCK_END);
      otherwise = body();
    }
    close("endfor");
    return new Statements.For(target, iterable, condition, recursive, body, otherwise);
  }

  /** One target, or several with commas between them. */
  private Target targets() {
    List<Target> targets = new ArrayList<>(List.of(target()));
    boolean several = false;
    while (tokens.takeOperator(",")) {
      several = true;
      if (tokens.peek().type() != Token.Type.NAME && !tokens.peek().isOperator("(")
          || tokens.peek().isName("in")) {
        break;
      }
      targets.add(target());
    }
    return several ? new Target.Several(targets) : targets.get(0);
  }

  private Target target() {
    if (tokens.takeOperator("(")) {
      tokens.enter();
      Target inner = targets();
      tokens.leave();
      tokens.expectOperator(")");
      return inner;
    }
    String name = tokens.expectName();
    return tokens.takeOperator(".")
        ? new Target.NamespaceAttribute(name, tokens.expectName())
        : new Target.Variable(name);
  }

  private Statement set() {
    Target target = targets();
    if (tokens.takeOperator("=")) {
      Expression value = expressions.tuple(true);
      tokens.expect(Token.Type.BLOCK_END);
      return new Statements.Set(target, value);
    }
    Statements.Filtering filtering = tokens.takeOperator("|") ? filters() : null;
    tokens.expect(Token.Type.BLOCK_END);
    return new Statements.Captured(target, filtering, bodyUntil("endset"));
  }

  private Statement filter() {
    Statements.Filtering filtering = filters();
    tokens.expect(Token.Type.BLOCK_END);
    return new Statements.Captured(null, filtering, bodyUntil("endfilter"));
  }

  /** Filters with a hole where their input goes. */
  private Statements.Filtering filters() {
    String hole = "the text of the block";
    Expression chain = expressions.filter(new Expressions.Name(hole));
    while (tokens.takeOperator("|")) {
      chain = expressions.filter(chain);
    }
    Expression filters = chain;
    return (rendering, scope, text) -> {
      Scope inner = scope.inner();
      inner.set(hole, text);
      return filters.eval(rendering, inner);
    };
  }

  private Statement with() {
    List<Target> targets = new ArrayList<>();
    List<Expression> values = new ArrayList<>();
    while (tokens.peek().type() != Token.Type.BLOCK_END) {
      targets.add(target());
      tokens.expectOperator("=");
      values.add(expressions.expression());
      if (tokens.peek().type() != Token.Type.BLOCK_END) {
        tokens.expectOperator(",");
      }
    }
    tokens.expect(Token.Type.BLOCK_END);
    return new Statements.With(targets, values, bodyUntil("endwith"));
  }

  private Statement macro() {
    String name = tokens.expectName();
    Signature signature = signature();
    tokens.expect(Token.Type.BLOCK_END);
    return new Statements.Macro(name, signature, functionBody("endmacro"));
  }

  private Statement call() {
    Signature signature =
        tokens.peek().isOperator("(") ? signature() : new Signature(List.of(), List.of());
    Expression callee = expressions.expression();
    if (!(callee instanceof Expressions.Call call)) {
      throw tokens.unexpected("a call");
    }
    tokens.expect(Token.Type.BLOCK_END);
    ArgumentList arguments = call.arguments();
    return new Statements.CallBlock(signature, call.callee(), arguments, functionBody("endcall"));
  }

  /** The body of a function, which a loop around it does not reach. */
  private Body functionBody(String end) {
    int around = loops;
    loops = 0;
    Body body = bodyUntil(end);
    loops = around;
    return body;
  }

  private Signature signature() {
    tokens.expectOperator("(");
    List<String> parameters = new ArrayList<>();
    List<Expression> defaults = new ArrayList<>();
    while (!tokens.takeOperator(")")) {
      parameters.add(tokens.expectName());
      if (tokens.takeOperator("=")) {
        defaults.add(expressions.expression());
      } else if (!defaults.isEmpty()) {
        throw tokens.unexpected("a default");
      }
      if (!tokens.peek().isOperator(")")) {
        tokens.expectOperator(",");
      }
    }
    return new Signature(parameters, defaults);
  }
}
