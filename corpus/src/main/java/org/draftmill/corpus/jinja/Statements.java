package org.draftmill.corpus.jinja;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.draftmill.corpus.jinja.Expressions.ArgumentList;

/** The kinds of {@link Statement}. */
final class Statements {
  private Statements() {}

  /**
   * Statements one after another.
   *
   * @param lines where each begins, for messages
   */
  record Body(List<Statement> statements, int[] lines) implements Statement {
    @Override
    public Flow run(Rendering rendering, Scope scope) {
      for (int i = 0; i < lines.length; i++) {
        try {
          Flow flow = statements.get(i).run(rendering, scope);
          if (flow != Flow.ON) {
            return flow;
          }
        } catch (JinjaException e) {
          throw e.at(lines[i]);
        }
      }
      return Flow.ON;
    }

    /** What it writes, as a text. */
    String capture(Rendering rendering, Scope scope) {
      StringBuilder captured = new StringBuilder();
      StringBuilder outer = rendering.redirect(captured);
      try {
        run(rendering, scope);
      } finally {
        rendering.redirect(outer);
      }
      return captured.toString();
    }
  }

  record Text(String text) implements Statement {
    @Override
    public Flow run(Rendering rendering, Scope scope) {
      rendering.step();
      rendering.write(text);
      return Flow.ON;
    }
  }

  record Output(Expression expression) implements Statement {
    @Override
    public Flow run(Rendering rendering, Scope scope) {
      rendering.step();
      rendering.write(Values.text(expression.eval(rendering, scope)));
      return Flow.ON;
    }
  }

  record If(List<Expression> conditions, List<Body> bodies, Body otherwise) implements Statement {
    @Override
    public Flow run(Rendering rendering, Scope scope) {
      rendering.step();
      for (int i = 0; i < conditions.size(); i++) {
        if (conditions.get(i).test(rendering, scope)) {
          return bodies.get(i).run(rendering, scope);
        }
      }
      return otherwise == null ? Flow.ON : otherwise.run(rendering, scope);
    }
  }

  record Jump(Flow flow) implements Statement {
    @Override
    public Flow run(Rendering rendering, Scope scope) {
      return flow;
    }
  }

  record For(
      Target target,
      Expression iterable,
      Expression condition,
      boolean recursive,
      Body body,
      Body otherwise)
      implements Statement {
    @Override
    public Flow run(Rendering rendering, Scope scope) {
      loop(rendering, scope, iterable.eval(rendering, scope), 0);
      return Flow.ON;
    }

    private void loop(Rendering rendering, Scope scope, Object iterable, int depth) {
      List<Object> items = items(rendering, scope, iterable);
      if (items.isEmpty()) {
        if (otherwise != null) {
          otherwise.run(rendering, scope.inner());
        }
        return;
      }
      Loop loop = new Loop(items, depth, recursive ? recursion(scope, depth + 1) : null);
      for (Object item : items) {
        rendering.step();
        loop.advance();
        Scope inner = scope.inner();
        inner.set("loop", loop);
        target.assign(inner, item);
        if (body.run(rendering, inner) == Flow.BREAK) {
          break;
        }
      }
    }

    private List<Object> items(Rendering rendering, Scope scope, Object iterable) {
      List<Object> all = Values.list(iterable);
      if (condition == null) {
        return all;
      }
      List<Object> items = new ArrayList<>();
      for (Object item : all) {
        rendering.step();
        Scope inner = scope.inner();
        target.assign(inner, item);
        if (condition.test(rendering, inner)) {
          items.add(item);
        }
      }
      return items;
    }

    private Callable recursion(Scope scope, int depth) {
      return (rendering, arguments) -> {
        StringBuilder captured = new StringBuilder();
        StringBuilder outer = rendering.redirect(captured);
        rendering.enter();
        try {
          loop(rendering, scope, arguments.require(0, "iterable"), depth);
        } finally {
          rendering.leave();
          rendering.redirect(outer);
        }
        return captured.toString();
      };
    }
  }

  record Set(Target target, Expression value) implements Statement {
    @Override
    public Flow run(Rendering rendering, Scope scope) {
      rendering.step();
      target.assign(scope, value.eval(rendering, scope));
      return Flow.ON;
    }
  }

  /**
   * A statement that hands the text of its body through a filter; without a target it writes it.
   */
  record Captured(Target target, Filtering filtering, Body body) implements Statement {
    @Override
    public Flow run(Rendering rendering, Scope scope) {
      rendering.step();
      Object text = body.capture(rendering, scope.inner());
      Object value = filtering == null ? text : filtering.apply(rendering, scope, text);
      if (target == null) {
        rendering.write(Values.text(value));
      } else {
        target.assign(scope, value);
      }
      return Flow.ON;
    }
  }

  /** Filters that wait for their input. */
  @FunctionalInterface
  interface Filtering {
    Object apply(Rendering rendering, Scope scope, Object text);
  }

  record With(List<Target> targets, List<Expression> values, Body body) implements Statement {
    @Override
    public Flow run(Rendering rendering, Scope scope) {
      rendering.step();
      Scope inner = scope.inner();
      for (int i = 0; i < targets.size(); i++) {
        targets.get(i).assign(inner, values.get(i).eval(rendering, scope));
      }
      return body.run(rendering, inner);
    }
  }

  /** The part that the model generated: marked for other uses, here written as it is. */
  record Generation(Body body) implements Statement {
    @Override
    public Flow run(Rendering rendering, Scope scope) {
      return body.run(rendering, scope.inner());
    }
  }

  /**
   * What a macro or call block declares.
   *
   * @param parameters names in order
   * @param defaults of the last parameters
   */
  record Signature(List<String> parameters, List<Expression> defaults) {}

  record Macro(String name, Signature signature, Body body) implements Statement {
    @Override
    public Flow run(Rendering rendering, Scope scope) {
      scope.set(name, function(name, signature, body, scope));
      return Flow.ON;
    }
  }

  record CallBlock(Signature signature, Expression callee, ArgumentList arguments, Body body)
      implements Statement {
    @Override
    public Flow run(Rendering rendering, Scope scope) {
      Object function = callee.eval(rendering, scope);
      if (!(function instanceof Callable callable)) {
        throw JinjaException.runtime("%s cannot be called", Values.typeName(function));
      }
      Arguments given = arguments.eval(rendering, scope);
      Map<String, Object> named = given.copyNamed();
      named.put("caller", function("caller", signature, body, scope));
      rendering.write(
          Values.text(callable.call(rendering, new Arguments(given.positional(), named))));
      return Flow.ON;
    }
  }

  private static Callable function(String name, Signature signature, Body body, Scope defined) {
    return (rendering, arguments) -> {
      rendering.enter();
      try {
        Scope scope = defined.inner();
        bind(name, signature, arguments, rendering, scope);
        return body.capture(rendering, scope);
      } finally {
        rendering.leave();
      }
    };
  }

  private static void bind(
      String name, Signature signature, Arguments arguments, Rendering rendering, Scope scope) {
    List<String> parameters = signature.parameters();
    Map<String, Object> others = new LinkedHashMap<>(arguments.named());
    int required = parameters.size() - signature.defaults().size();
    for (int i = 0; i < parameters.size(); i++) {
      String parameter = parameters.get(i);
      Object value;
      if (i < arguments.count()) {
        value = arguments.positional().get(i);
      } else if (others.containsKey(parameter)) {
        value = others.get(parameter);
      } else {
        value =
            i < required
                ? new Undefined("the parameter '" + parameter + "' of '" + name + "'")
                : signature.defaults().get(i - required).eval(rendering, scope);
      }
      others.remove(parameter);
      scope.set(parameter, value);
    }
    if (others.containsKey("caller")) {
      scope.set("caller", others.remove("caller"));
    }
    scope.set("varargs", new Tuple(arguments.from(parameters.size()).positional()));
    scope.set("kwargs", others);
  }
}
