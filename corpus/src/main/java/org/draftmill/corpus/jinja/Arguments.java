package org.draftmill.corpus.jinja;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The arguments of a call, already evaluated.
 *
 * @param positional those without a name
 * @param named those with one
 */
record Arguments(List<Object> positional, Map<String, Object> named) {
  static final Arguments NONE = new Arguments(List.of(), Map.of());

  int count() {
    return positional.size();
  }

  /** The argument at a place or of a name; absent gives {@code otherwise}. */
  Object get(int place, String name, Object otherwise) {
    if (place < positional.size()) {
      return positional.get(place);
    }
    return named.containsKey(name) ? named.get(name) : otherwise;
  }

  /** The same, needed. */
  Object require(int place, String name) {
    if (place >= positional.size() && !named.containsKey(name)) {
      throw JinjaException.runtime("the argument '%s' is missing", name);
    }
    return get(place, name, null);
  }

  String text(int place, String name, String otherwise) {
    Object value = get(place, name, otherwise);
    if (value == null || value instanceof String) {
      return (String) value;
    }
    throw JinjaException.runtime(
        "the argument '%s' must be a text, not %s", name, Values.typeName(value));
  }

  int integer(int place, String name, int otherwise) {
    Object value = get(place, name, (long) otherwise);
    return value == null ? otherwise : Values.index(value);
  }

  boolean flag(int place, String name, boolean otherwise) {
    return Values.isTrue(get(place, name, otherwise));
  }

  /** All but the first {@code n} positional ones. */
  Arguments from(int n) {
    int start = Math.min(n, positional.size());
    return new Arguments(positional.subList(start, positional.size()), named);
  }

  /** Those with a name, to be changed. */
  Map<String, Object> copyNamed() {
    return new LinkedHashMap<>(named);
  }
}
