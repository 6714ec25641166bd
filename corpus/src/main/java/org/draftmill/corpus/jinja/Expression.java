package org.draftmill.corpus.jinja;

/** A part of a template that has a value. Immutable; walked by any number of threads. */
@FunctionalInterface
interface Expression {
  Object eval(Rendering rendering, Scope scope);

  /** Whether the value is true. */
  default boolean test(Rendering rendering, Scope scope) {
    return Values.isTrue(eval(rendering, scope));
  }
}
