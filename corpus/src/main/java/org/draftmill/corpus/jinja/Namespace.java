package org.draftmill.corpus.jinja;

import java.util.Map;

/**
 * What {@code namespace(...)} gives: the one value whose attributes a template may set, so that a
 * loop can tell what comes after it. Equal only to itself.
 */
final class Namespace {
  private final Map<String, Object> attributes;

  Namespace(Map<String, Object> attributes) {
    this.attributes = attributes;
  }

  Map<String, Object> attributes() {
    return attributes;
  }
}
