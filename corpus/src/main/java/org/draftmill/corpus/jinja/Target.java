package org.draftmill.corpus.jinja;

import java.util.List;

/** What a value is assigned to. */
interface Target {
  void assign(Scope scope, Object value);

  record Variable(String name) implements Target {
    @Override
    public void assign(Scope scope, Object value) {
      scope.set(name, value);
    }
  }

  /** {@code namespace.attribute}. */
  record NamespaceAttribute(String namespace, String attribute) implements Target {
    @Override
    public void assign(Scope scope, Object value) {
      if (!(scope.get(namespace) instanceof Namespace found)) {
        throw JinjaException.runtime(
            "'%s' is no namespace, so its '%s' cannot be set", namespace, attribute);
      }
      found.attributes().put(attribute, value);
    }
  }

  /** Several at once, from a list of the same length. */
  record Several(List<Target> targets) implements Target {
    @Override
    public void assign(Scope scope, Object value) {
      List<Object> values = Values.list(value);
      if (values.size() != targets.size()) {
        throw JinjaException.runtime(
            "%d values cannot be unpacked into %d names", values.size(), targets.size());
      }
      for (int i = 0; i < targets.size(); i++) {
        targets.get(i).assign(scope, values.get(i));
      }
    }
  }
}
