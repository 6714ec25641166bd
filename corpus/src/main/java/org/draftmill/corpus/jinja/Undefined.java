package org.draftmill.corpus.jinja;

/**
 * What a name or attribute that does not exist gives: empty, false and without elements, but
 * nothing can be done with it.
 *
 * @param what the name or attribute, for messages
 */
record Undefined(String what) {
  JinjaException error() {
    return JinjaException.runtime("%s is undefined", what);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Undefined;
  }

  @Override
  public int hashCode() {
    return 0;
  }
}
