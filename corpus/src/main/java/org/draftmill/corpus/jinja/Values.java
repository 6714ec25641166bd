package org.draftmill.corpus.jinja;

import java.util.Arrays;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

/** What Python's operators and built-ins say of the values that a template meets. */
final class Values {
  /** Parts of a value that are looked at before it is given up as endless. */
  private static final int WORK_LIMIT = 4 << 20;

  private Values() {}

  static boolean isTrue(Object value) {
    if (value instanceof Boolean flag) {
      return flag;
    }
    if (value instanceof String text) {
      return !text.isEmpty();
    }
    if (value instanceof Long number) {
      return number != 0;
    }
    if (value instanceof Double number) {
      return number != 0;
    }
    if (value instanceof Collection<?> list) {
      return !list.isEmpty();
    }
    if (value instanceof Map<?, ?> map) {
      return !map.isEmpty();
    }
    return value != null && !(value instanceof Undefined);
  }

  /** {@code str(value)}. */
  static String text(Object value) {
    return value instanceof String text ? text : value instanceof Undefined ? "" : repr(value);
  }

  /** {@code repr(value)}. */
  static String repr(Object value) {
    StringBuilder out = new StringBuilder();
    repr(value, out);
    return out.toString();
  }

  private static void repr(Object value, StringBuilder out) {
    if (out.length() > WORK_LIMIT) {
      throw tooMuch();
    }
    if (value == null) {
      out.append("None");
    } else if (value instanceof String text) {
      out.append(PythonText.quote(text));
    } else if (value instanceof Boolean flag) {
      out.append(flag ? "True" : "False");
    } else if (value instanceof Double number) {
      out.append(PythonText.number(number));
    } else if (value instanceof Map<?, ?> map) {
      String separator = "{";
      for (Map.Entry<?, ?> entry : map.entrySet()) {
        repr(entry.getKey(), out.append(separator));
        repr(entry.getValue(), out.append(": "));
        separator = ", ";
      }
      out.append(map.isEmpty() ? "{}" : "}");
    } else if (value instanceof Collection<?> list) {
      out.append(value instanceof Tuple ? '(' : '[');
      String separator = "";
      for (Object item : list) {
        repr(item, out.append(separator));
        separator = ", ";
      }
      out.append(value instanceof Tuple ? list.size() == 1 ? ",)" : ")" : "]");
    } else if (value instanceof Undefined) {
      out.append("Undefined");
    } else if (value instanceof Number) {
      out.append(value); // beyond 64 bits it can be printed, but not computed with
    } else {
      throw JinjaException.runtime("%s cannot be printed", typeName(value));
    }
  }

  private static JinjaException tooMuch() {
    return new JinjaException(
        JinjaException.Kind.LIMIT, "a value holds more than " + WORK_LIMIT + " parts");
  }

  /** The name of a value's type in messages. */
  static String typeName(Object value) {
    if (value == null) {
      return "None";
    }
    if (value instanceof Undefined undefined) {
      return undefined.what() + ", which is undefined";
    }
    return value instanceof String
        ? "a text"
        : value instanceof Boolean
            ? "a truth value"
            : value instanceof Long
                ? "a whole number"
                : value instanceof Double
                    ? "a number"
                    : value instanceof Map
                        ? "a mapping"
                        : value instanceof Tuple
                            ? "a tuple"
                            : value instanceof Collection
                                ? "a list"
                                : value instanceof Namespace
                                    ? "a namespace"
                                    : value instanceof Callable ? "a function" : "an object";
  }

  static boolean isNumber(Object value) {
    return value instanceof Long || value instanceof Double || value instanceof Boolean;
  }

  static boolean isWhole(Object value) {
    return value instanceof Long || value instanceof Boolean;
  }

  static long whole(Object value) {
    if (value instanceof Boolean flag) {
      return flag ? 1 : 0;
    }
    if (value instanceof Long number) {
      return number;
    }
    throw JinjaException.runtime("a whole number is needed, not %s", typeName(value));
  }

  static double number(Object value) {
    return value instanceof Double number ? number : whole(value);
  }

  /** A whole number that fits an index. */
  static int index(Object value) {
    long number = whole(value);
    return (int) Math.max(Integer.MIN_VALUE, Math.min(Integer.MAX_VALUE, number));
  }

  static boolean equal(Object a, Object b) {
    return a instanceof String ? a.equals(b) : equal(a, b, new int[1]);
  }

  /**
   * @param work pairs compared so far; lists that share their parts may be exponentially large
   */
  private static boolean equal(Object a, Object b, int[] work) {
    if (work[0]++ > WORK_LIMIT) {
      throw tooMuch();
    }
    if (isNumber(a) && isNumber(b)) {
      return isWhole(a) && isWhole(b) ? whole(a) == whole(b) : number(a) == number(b);
    }
    if (a instanceof List<?> x && b instanceof List<?> y) {
      if (x.size() != y.size() || (a instanceof Tuple) != (b instanceof Tuple)) {
        return false;
      }
      Iterator<?> other = y.iterator();
      for (Object item : x) {
        if (!equal(item, other.next(), work)) {
          return false;
        }
      }
      return true;
    }
    if (a instanceof Map<?, ?> x && b instanceof Map<?, ?> y) {
      return x.size() == y.size()
          && x.keySet().stream()
              .allMatch(key -> y.containsKey(key) && equal(x.get(key), y.get(key), work));
    }
    return a == null ? b == null : a.equals(b);
  }

  /** Whether a value can be a key of a mapping, which must be a single one. */
  static boolean isKey(Object value) {
    return !(value instanceof Collection) && !(value instanceof Map);
  }

  static Object key(Object value) {
    if (!isKey(value)) {
      throw JinjaException.runtime("%s cannot be a key", typeName(value));
    }
    return value;
  }

  /** Order of two values that have one. */
  static int compare(Object a, Object b) {
    if (isNumber(a) && isNumber(b)) {
      return isWhole(a) && isWhole(b)
          ? Long.compare(whole(a), whole(b))
          : Double.compare(number(a), number(b));
    }
    if (a instanceof String x && b instanceof String y) {
      return PythonText.compare(x, y);
    }
    if (a instanceof List<?> x && b instanceof List<?> y) {
      for (int i = 0; i < Math.min(x.size(), y.size()); i++) {
        if (!equal(x.get(i), y.get(i))) {
          return compare(x.get(i), y.get(i));
        }
      }
      return Integer.compare(x.size(), y.size());
    }
    throw JinjaException.runtime("%s and %s have no order", typeName(a), typeName(b));
  }

  /** The elements of anything that can be looped over: keys of a mapping, characters of a text. */
  static List<Object> list(Object value) {
    if (value instanceof List<?> list) {
      @SuppressWarnings("unchecked") // elements are only read
      List<Object> items = (List<Object>) list;
      return items;
    }
    if (value instanceof Map<?, ?> map) {
      return Arrays.asList(map.keySet().toArray());
    }
    if (value instanceof Collection<?> items) {
      return Arrays.asList(items.toArray());
    }
    if (value instanceof String text) {
      return Arrays.asList((Object[]) PythonText.characters(text));
    }
    if (value instanceof Undefined) {
      return List.of();
    }
    throw JinjaException.runtime("%s has no elements to go through", typeName(value));
  }

  static boolean isIterable(Object value) {
    return value instanceof Collection
        || value instanceof Map
        || value instanceof String
        || value instanceof Undefined;
  }

  /** {@code len(value)}. */
  static long length(Object value) {
    return value instanceof String text
        ? PythonText.length(text)
        : value instanceof Map<?, ?> map ? map.size() : list(value).size();
  }

  /** {@code item in container}. */
  static boolean contains(Object container, Object item) {
    if (container instanceof String text) {
      if (item instanceof String part) {
        return text.contains(part);
      }
      throw JinjaException.runtime("a text cannot contain %s", typeName(item));
    }
    if (container instanceof Map<?, ?> map) {
      return map.containsKey(key(item));
    }
    for (Object element : list(container)) {
      if (equal(element, item)) {
        return true;
      }
    }
    return false;
  }
}
