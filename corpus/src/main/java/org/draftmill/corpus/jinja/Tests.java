package org.draftmill.corpus.jinja;

import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The tests that may stand behind {@code is}. */
final class Tests {
  /** A test, as it stands behind {@code is}. */
  @FunctionalInterface
  interface Test {
    boolean test(Rendering rendering, Object value, Arguments arguments);
  }

  private static final Map<String, Test> ALL =
      Map.ofEntries(
          Map.entry("defined", (r, v, a) -> !(v instanceof Undefined)),
          Map.entry("undefined", (r, v, a) -> v instanceof Undefined),
          Map.entry("none", (r, v, a) -> v == null),
          Map.entry("string", (r, v, a) -> v instanceof String),
          Map.entry("boolean", (r, v, a) -> v instanceof Boolean),
          Map.entry("true", (r, v, a) -> Boolean.TRUE.equals(v)),
          Map.entry("false", (r, v, a) -> Boolean.FALSE.equals(v)),
          Map.entry("number", (r, v, a) -> Values.isNumber(v)),
          Map.entry("integer", (r, v, a) -> v instanceof Long),
          Map.entry("float", (r, v, a) -> v instanceof Double),
          Map.entry("mapping", (r, v, a) -> v instanceof Map),
          Map.entry("iterable", (r, v, a) -> Values.isIterable(v)),
          Map.entry("sequence", (r, v, a) -> Values.isIterable(v)),
          Map.entry("callable", (r, v, a) -> v instanceof Callable),
          Map.entry("sameas", (r, v, a) -> isSame(v, a.require(0, "other"))),
          Map.entry("odd", (r, v, a) -> Math.floorMod(Values.whole(v), 2L) == 1),
          Map.entry("even", (r, v, a) -> Math.floorMod(Values.whole(v), 2L) == 0),
          Map.entry("divisibleby", Tests::isDivisible),
          Map.entry("lower", (r, v, a) -> text(v).equals(text(v).toLowerCase(Locale.ROOT))),
          Map.entry("upper", (r, v, a) -> text(v).equals(text(v).toUpperCase(Locale.ROOT))),
          Map.entry("escaped", (r, v, a) -> false),
          Map.entry("filter", (r, v, a) -> Filters.find(text(v)) != null),
          Map.entry("test", (r, v, a) -> find(text(v)) != null),
          Map.entry("in", (r, v, a) -> Values.contains(a.require(0, "seq"), v)),
          Map.entry("eq", comparison("==")),
          Map.entry("equalto", comparison("==")),
          Map.entry("==", comparison("==")),
          Map.entry("ne", comparison("!=")),
          Map.entry("!=", comparison("!=")),
          Map.entry("lt", comparison("<")),
          Map.entry("lessthan", comparison("<")),
          Map.entry("<", comparison("<")),
          Map.entry("le", comparison("<=")),
          Map.entry("<=", comparison("<=")),
          Map.entry("gt", comparison(">")),
          Map.entry("greaterthan", comparison(">")),
          Map.entry(">", comparison(">")),
          Map.entry("ge", comparison(">=")),
          Map.entry(">=", comparison(">=")));

  private Tests() {}

  /** The test of that name; null if there is none. */
  static Test find(String name) {
    return ALL.get(name);
  }

  private static Test comparison(String operator) {
    return (rendering, value, arguments) ->
        Operators.compare(operator, value, arguments.require(0, "other"));
  }

  private static boolean isSame(Object a, Object b) {
    boolean scalar = a == null || a instanceof Boolean || a instanceof Long || a instanceof String;
    return scalar ? b != null ? b.equals(a) : a == null : a == b;
  }

  private static boolean isDivisible(Rendering rendering, Object value, Arguments arguments) {
    Object divisor = arguments.require(0, "num");
    return Values.whole(Operators.apply(rendering, "%", Values.whole(value), divisor)) == 0;
  }

  private static String text(Object value) {
    return Values.text(value);
  }

  /** The test named by the argument at {@code place}, with the arguments behind it. */
  static boolean named(Rendering rendering, Object value, Arguments arguments, int place) {
    if (arguments.count() <= place) {
      return Values.isTrue(value);
    }
    String name = Values.text(arguments.positional().get(place));
    Test test = find(name);
    if (test == null) {
      throw JinjaException.unsupported("the test '%s' is not known", name);
    }
    List<Object> rest = arguments.from(place + 1).positional();
    return test.test(rendering, value, new Arguments(rest, arguments.named()));
  }
}
