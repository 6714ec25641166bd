package org.draftmill.corpus.jinja;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Attributes, elements, slices and methods of values. */
final class Members {
  private Members() {}

  /** {@code value.name}: a method, or the element of that name. */
  static Object attribute(Object value, String name) {
    if (value instanceof Map<?, ?> map) {
      if (MapMethods.isMethod(name)) {
        return method(value, name);
      }
      Object item = map.get(name);
      return item != null || map.containsKey(name) ? item : missing(value, name);
    }
    if (value instanceof Namespace namespace) {
      return namespace.attributes().containsKey(name)
          ? namespace.attributes().get(name)
          : missing(value, name);
    }
    if (value instanceof Loop loop) {
      return loop.attribute(name);
    }
    if (value instanceof Undefined undefined) {
      throw undefined.error();
    }
    if ((value instanceof String && TextMethods.isMethod(name))
        || (value instanceof List && ListMethods.isMethod(name))) {
      return method(value, name);
    }
    return missing(value, name);
  }

  private static Callable method(Object value, String name) {
    return (rendering, arguments) -> call(rendering, value, name, arguments);
  }

  private static Undefined missing(Object value, Object name) {
    return new Undefined("'" + name + "' of " + Values.typeName(value));
  }

  /** {@code value[key]}: the element, or the attribute of that name. */
  static Object item(Object value, Object key) {
    if (value instanceof Map<?, ?> map) {
      if (Values.isKey(key) && map.containsKey(key)) {
        return map.get(key);
      }
      return key instanceof String name ? attribute(value, name) : missing(value, key);
    }
    if (value instanceof Undefined undefined) {
      throw undefined.error();
    }
    if (Values.isWhole(key)) {
      if (value instanceof List<?> list) {
        int index = place(Values.index(key), list.size());
        return index < 0 ? missing(value, key) : list.get(index);
      }
      if (value instanceof String text) {
        int index = place(Values.index(key), PythonText.length(text));
        if (index < 0) {
          return missing(value, key);
        }
        return Character.toString(text.codePointAt(text.offsetByCodePoints(0, index)));
      }
    }
    return key instanceof String name ? attribute(value, name) : missing(value, Values.text(key));
  }

  /** An index counted from either end; -1 where there is nothing. */
  private static int place(int index, int length) {
    int place = index < 0 ? index + length : index;
    return place < 0 || place >= length ? -1 : place;
  }

  /** {@code value[from:to:step]} by Python's rules. */
  static Object slice(Rendering rendering, Object value, Integer from, Integer to, Integer step) {
    int by = step == null ? 1 : step;
    if (by == 0) {
      throw JinjaException.runtime("the step of a slice is zero");
    }
    if (value instanceof Undefined) {
      return List.of();
    }
    if (!(value instanceof String) && !(value instanceof List)) {
      throw JinjaException.runtime("%s cannot be sliced", Values.typeName(value));
    }
    int length = (int) Values.length(value);
    int start = from == null ? (by > 0 ? 0 : length - 1) : bound(from, length, by);
    int end = to == null ? (by > 0 ? length : -1) : bound(to, length, by);
    if (value instanceof String text && by == 1) {
      if (start >= end) {
        return "";
      }
      int first = text.offsetByCodePoints(0, start);
      return text.substring(first, text.offsetByCodePoints(first, end - start));
    }
    List<Object> items = Values.list(value);
    List<Object> slice = new ArrayList<>();
    for (long i = start; by > 0 ? i < end : i > end; i += by) {
      slice.add(items.get((int) i));
    }
    rendering.step(slice.size());
    if (value instanceof String) {
      StringBuilder text = new StringBuilder();
      slice.forEach(text::append);
      return text.toString();
    }
    return value instanceof Tuple ? new Tuple(slice) : slice;
  }

  private static int bound(int index, int length, int by) {
    long place = index < 0 ? (long) index + length : index;
    return (int)
        (by > 0
            ? Math.max(0, Math.min(length, place))
            : Math.max(-1, Math.min(length - 1L, place)));
  }

  /** {@code value.name(arguments)}. */
  static Object call(Rendering rendering, Object value, String name, Arguments arguments) {
    if (value instanceof String text) {
      return TextMethods.call(rendering, text, name, arguments);
    }
    if (value instanceof List<?> && ListMethods.isMethod(name)) {
      return ListMethods.call(Values.list(value), name, arguments);
    }
    if (value instanceof Map<?, ?> map && MapMethods.isMethod(name)) {
      return MapMethods.call(map, name, arguments);
    }
    Object member = attribute(value, name);
    if (member instanceof Callable callable) {
      return callable.call(rendering, arguments);
    }
    throw JinjaException.runtime("%s has no method '%s'", Values.typeName(value), name);
  }
}
