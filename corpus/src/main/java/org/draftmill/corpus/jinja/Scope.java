package org.draftmill.corpus.jinja;

import java.util.Arrays;
import java.util.Map;

/**
 * Variables of one loop, macro or template; names are interned, so that they can be told apart by
 * identity.
 */
final class Scope {
  private static final Object ABSENT = new Object();

  private final Scope parent;
  private final Map<String, ?> globals; // only of the outermost scope
  private String[] names = new String[4];
  private Object[] values = new Object[4];
  private int size;

  private Scope(Scope parent, Map<String, ?> globals) {
    this.parent = parent;
    this.globals = globals;
  }

  static Scope outermost(Map<String, ?> globals) {
    return new Scope(null, globals);
  }

  Scope inner() {
    return new Scope(this, null);
  }

  void set(String name, Object value) {
    for (int i = 0; i < size; i++) {
      if (names[i] == name) {
        values[i] = value;
        return;
      }
    }
    if (size == names.length) {
      names = Arrays.copyOf(names, 2 * size);
      values = Arrays.copyOf(values, 2 * size);
    }
    names[size] = name;
    values[size++] = value;
  }

  /** The value of the innermost variable of that name, or an {@link Undefined}. */
  Object get(String name) {
    for (Scope scope = this; ; scope = scope.parent) {
      for (int i = 0; i < scope.size; i++) {
        if (scope.names[i] == name) {
          return scope.values[i];
        }
      }
      if (scope.parent == null) {
        Object value = scope.global(name);
        return value == ABSENT ? new Undefined("'" + name + "'") : value;
      }
    }
  }

  private Object global(String name) {
    Object value = globals.get(name);
    return value != null || globals.containsKey(name)
        ? value
        : Globals.FUNCTIONS.getOrDefault(name, ABSENT);
  }
}
