package org.draftmill.corpus.jinja;

import java.util.AbstractList;
import java.util.List;

/** A list that prints in round brackets and equals only its like. */
final class Tuple extends AbstractList<Object> {
  private final List<Object> items;

  Tuple(List<Object> items) {
    this.items = items;
  }

  static Tuple of(Object a, Object b) {
    return new Tuple(java.util.Arrays.asList(a, b));
  }

  @Override
  public Object get(int index) {
    return items.get(index);
  }

  @Override
  public int size() {
    return items.size();
  }
}
