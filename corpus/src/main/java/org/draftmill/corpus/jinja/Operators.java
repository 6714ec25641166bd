package org.draftmill.corpus.jinja;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Arithmetic, with Python's rules for whole numbers, texts and lists. */
final class Operators {
  private Operators() {}

  static Object apply(Rendering rendering, String operator, Object a, Object b) {
    requireDefined(a);
    requireDefined(b);
    if (operator.equals("+")) {
      if (a instanceof String x && b instanceof String y) {
        rendering.checkSize((long) x.length() + y.length());
        return x.concat(y);
      }
      if (a instanceof List<?> x && b instanceof List<?> y && isTuple(a) == isTuple(b)) {
        rendering.checkSize((long) x.size() + y.size());
        rendering.step(x.size() + (long) y.size());
        List<Object> sum = new ArrayList<>(x);
        sum.addAll(y);
        return isTuple(a) ? new Tuple(sum) : sum;
      }
    }
    if (operator.equals("*") && isRepeatable(a) != isRepeatable(b)) {
      Object item = isRepeatable(a) ? a : b;
      Object count = isRepeatable(a) ? b : a;
      if (Values.isWhole(count)) {
        return repeat(rendering, item, Math.max(0, Values.whole(count)));
      }
    }
    if (operator.equals("%") && a instanceof String format) {
      List<Object> values = isTuple(b) ? Values.list(b) : Collections.singletonList(b);
      return PercentFormat.format(rendering, format, values);
    }
    if (!Values.isNumber(a) || !Values.isNumber(b)) {
      throw JinjaException.runtime(
          "'%s' cannot be done with %s and %s", operator, Values.typeName(a), Values.typeName(b));
    }
    try {
      return Values.isWhole(a) && Values.isWhole(b)
          ? whole(operator, Values.whole(a), Values.whole(b))
          : real(operator, Values.number(a), Values.number(b));
    } catch (ArithmeticException e) {
      throw JinjaException.runtime("%s %s %s: %s", a, operator, b, e.getMessage());
    }
  }

  private static void requireDefined(Object value) {
    if (value instanceof Undefined undefined) {
      throw undefined.error();
    }
  }

  private static boolean isTuple(Object value) {
    return value instanceof Tuple;
  }

  private static boolean isRepeatable(Object value) {
    return value instanceof String || value instanceof List;
  }

  private static Object repeat(Rendering rendering, Object item, long count) {
    long length = item instanceof String text ? text.length() : ((List<?>) item).size();
    if (length == 0 || count == 0) {
      return item instanceof String ? "" : List.of();
    }
    rendering.checkSize(count);
    rendering.checkSize(count * length);
    if (item instanceof String text) {
      return text.repeat((int) count);
    }
    rendering.step(count * length);
    List<Object> repeated = new ArrayList<>();
    for (long i = 0; i < count; i++) {
      repeated.addAll((List<?>) item);
    }
    return repeated;
  }

  private static Object whole(String operator, long a, long b) {
    return switch (operator) {
      case "+" -> Math.addExact(a, b);
      case "-" -> Math.subtractExact(a, b);
      case "*" -> Math.multiplyExact(a, b);
      case "//" -> Math.floorDiv(a, nonZero(b));
      case "%" -> Math.floorMod(a, nonZero(b));
      case "/" -> (double) a / nonZero(b);
      default -> power(a, b);
    };
  }

  private static long nonZero(long divisor) {
    if (divisor == 0) {
      throw new ArithmeticException("division by zero");
    }
    return divisor;
  }

  private static Object power(long base, long exponent) {
    if (exponent < 0) {
      return Math.pow(base, exponent);
    }
    long result = 1;
    long square = base;
    for (long rest = exponent; rest > 0; rest >>= 1) {
      if ((rest & 1) == 1) {
        result = Math.multiplyExact(result, square);
      }
      if (rest > 1) {
        square = Math.multiplyExact(square, square);
      }
    }
    return result;
  }

  private static Object real(String operator, double a, double b) {
    if (b == 0 && !"+-*".contains(operator) && !operator.equals("**")) {
      throw new ArithmeticException("division by zero");
    }
    return switch (operator) {
      case "+" -> a + b;
      case "-" -> a - b;
      case "*" -> a * b;
      case "//" -> Math.floor(a / b);
      case "%" -> a - b * Math.floor(a / b);
      case "/" -> a / b;
      default -> Math.pow(a, b);
    };
  }

  static Object negate(Object value) {
    if (value instanceof Double number) {
      return -number;
    }
    if (value instanceof Undefined undefined) {
      throw undefined.error();
    }
    return Math.negateExact(Values.whole(value));
  }

  static boolean compare(String operator, Object a, Object b) {
    switch (operator) {
      case "==":
        return Values.equal(a, b);
      case "!=":
        return !Values.equal(a, b);
      case "in":
        return Values.contains(b, a);
      case "not in":
        return !Values.contains(b, a);
      default:
        break;
    }
    requireDefined(a);
    requireDefined(b);
    if ((a instanceof Double x && x.isNaN()) || (b instanceof Double y && y.isNaN())) {
      return false;
    }
    int order = Values.compare(a, b);
    return switch (operator) {
      case "<" -> order < 0;
      case "<=" -> order <= 0;
      case ">" -> order > 0;
      default -> order >= 0;
    };
  }
}
