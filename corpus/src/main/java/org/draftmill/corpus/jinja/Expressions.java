package org.draftmill.corpus.jinja;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The kinds of {@link Expression}. */
final class Expressions {
  private Expressions() {}

  record Literal(Object value) implements Expression {
    @Override
    public Object eval(Rendering rendering, Scope scope) {
      return value;
    }
  }

  record Name(String name) implements Expression {
    @Override
    public Object eval(Rendering rendering, Scope scope) {
      return scope.get(name);
    }
  }

  record ListLiteral(List<Expression> items, boolean tuple) implements Expression {
    @Override
    public Object eval(Rendering rendering, Scope scope) {
      List<Object> values = evalAll(items, rendering, scope);
      return tuple ? new Tuple(values) : values;
    }
  }

  record MapLiteral(List<Expression> keys, List<Expression> values) implements Expression {
    @Override
    public Object eval(Rendering rendering, Scope scope) {
      Map<Object, Object> map = new LinkedHashMap<>();
      for (int i = 0; i < keys.size(); i++) {
        map.put(
            Values.key(keys.get(i).eval(rendering, scope)), values.get(i).eval(rendering, scope));
      }
      return map;
    }
  }

  record Arithmetic(String operator, Expression left, Expression right) implements Expression {
    @Override
    public Object eval(Rendering rendering, Scope scope) {
      Object a = left.eval(rendering, scope);
      return Operators.apply(rendering, operator, a, right.eval(rendering, scope));
    }
  }

  record Negation(Expression operand) implements Expression {
    @Override
    public Object eval(Rendering rendering, Scope scope) {
      return Operators.negate(operand.eval(rendering, scope));
    }
  }

  /** {@code a ~ b ~ c}: the texts of all of them joined. */
  record Concatenation(List<Expression> parts) implements Expression {
    @Override
    public Object eval(Rendering rendering, Scope scope) {
      StringBuilder out = new StringBuilder();
      for (Expression part : parts) {
        out.append(Values.text(part.eval(rendering, scope)));
        rendering.checkSize(out.length());
      }
      return out.toString();
    }
  }

  /** {@code a < b <= c}: each pair holds. */
  record Comparison(Expression first, List<String> operators, List<Expression> others)
      implements Expression {
    @Override
    public Object eval(Rendering rendering, Scope scope) {
      return test(rendering, scope);
    }

    @Override
    public boolean test(Rendering rendering, Scope scope) {
      Object left = first.eval(rendering, scope);
      for (int i = 0; i < others.size(); i++) {
        Object right = others.get(i).eval(rendering, scope);
        if (!Operators.compare(operators.get(i), left, right)) {
          return false;
        }
        left = right;
      }
      return true;
    }
  }

  record And(Expression left, Expression right) implements Expression {
    @Override
    public Object eval(Rendering rendering, Scope scope) {
      Object value = left.eval(rendering, scope);
      return Values.isTrue(value) ? right.eval(rendering, scope) : value;
    }

    @Override
    public boolean test(Rendering rendering, Scope scope) {
      return left.test(rendering, scope) && right.test(rendering, scope);
    }
  }

  record Or(Expression left, Expression right) implements Expression {
    @Override
    public Object eval(Rendering rendering, Scope scope) {
      Object value = left.eval(rendering, scope);
      return Values.isTrue(value) ? value : right.eval(rendering, scope);
    }

    @Override
    public boolean test(Rendering rendering, Scope scope) {
      return left.test(rendering, scope) || right.test(rendering, scope);
    }
  }

  record Not(Expression operand) implements Expression {
    @Override
    public Object eval(Rendering rendering, Scope scope) {
      return !operand.test(rendering, scope);
    }
  }

  /** {@code a if condition else b}; without an else undefined. */
  record Conditional(Expression condition, Expression then, Expression otherwise)
      implements Expression {
    @Override
    public Object eval(Rendering rendering, Scope scope) {
      if (condition.test(rendering, scope)) {
        return then.eval(rendering, scope);
      }
      return otherwise == null
          ? new Undefined("the value of a condition that is false and has no else")
          : otherwise.eval(rendering, scope);
    }
  }

  record Attribute(Expression of, String name) implements Expression {
    @Override
    public Object eval(Rendering rendering, Scope scope) {
      return Members.attribute(of.eval(rendering, scope), name);
    }
  }

  record Item(Expression of, Expression key) implements Expression {
    @Override
    public Object eval(Rendering rendering, Scope scope) {
      Object value = of.eval(rendering, scope);
      return Members.item(value, key.eval(rendering, scope));
    }
  }

  /** {@code a[from:to:step]}; absent parts are null. */
  record Slice(Expression of, Expression from, Expression to, Expression step)
      implements Expression {
    @Override
    public Object eval(Rendering rendering, Scope scope) {
      Object value = of.eval(rendering, scope);
      return Members.slice(
          rendering,
          value,
          bound(from, rendering, scope),
          bound(to, rendering, scope),
          bound(step, rendering, scope));
    }

    private static Integer bound(Expression bound, Rendering rendering, Scope scope) {
      Object value = bound == null ? null : bound.eval(rendering, scope);
      return value == null ? null : Integer.valueOf(Values.index(value));
    }
  }

  /** The arguments of a call, filter or test as written. */
  record ArgumentList(List<Expression> positional, List<String> names, List<Expression> named) {
    static final ArgumentList NONE = new ArgumentList(List.of(), List.of(), List.of());

    Arguments eval(Rendering rendering, Scope scope) {
      if (positional.isEmpty() && names.isEmpty()) {
        return Arguments.NONE;
      }
      Map<String, Object> byName = Map.of();
      if (!names.isEmpty()) {
        byName = new LinkedHashMap<>();
        for (int i = 0; i < names.size(); i++) {
          byName.put(names.get(i), named.get(i).eval(rendering, scope));
        }
      }
      return new Arguments(evalAll(positional, rendering, scope), byName);
    }
  }

  record Call(Expression callee, ArgumentList arguments) implements Expression {
    @Override
    public Object eval(Rendering rendering, Scope scope) {
      rendering.step();
      if (callee instanceof Attribute attribute) {
        Object receiver = attribute.of().eval(rendering, scope);
        Arguments values = arguments.eval(rendering, scope);
        return Members.call(rendering, receiver, attribute.name(), values);
      }
      Object function = callee.eval(rendering, scope);
      if (function instanceof Undefined undefined) {
        throw JinjaException.unsupported("%s is called but not known", undefined.what());
      }
      if (!(function instanceof Callable callable)) {
        throw JinjaException.runtime("%s cannot be called", Values.typeName(function));
      }
      return callable.call(rendering, arguments.eval(rendering, scope));
    }
  }

  record FilterCall(Filters.Filter filter, Expression input, ArgumentList arguments)
      implements Expression {
    @Override
    public Object eval(Rendering rendering, Scope scope) {
      rendering.step();
      Object value = input.eval(rendering, scope);
      return filter.apply(rendering, value, arguments.eval(rendering, scope));
    }
  }

  record TestCall(Tests.Test test, boolean negated, Expression input, ArgumentList arguments)
      implements Expression {
    @Override
    public Object eval(Rendering rendering, Scope scope) {
      Object value = input.eval(rendering, scope);
      return negated != test.test(rendering, value, arguments.eval(rendering, scope));
    }
  }

  private static List<Object> evalAll(
      List<Expression> expressions, Rendering rendering, Scope scope) {
    List<Object> values = new ArrayList<>(expressions.size());
    for (Expression expression : expressions) {
      values.add(expression.eval(rendering, scope));
    }
    return values;
  }
}
