package org.draftmill.corpus.jinja;

import java.time.ZonedDateTime;

/** The state of one rendering: what was written so far and how much may still be done. */
final class Rendering {
  private final Limits limits;
  private final ZonedDateTime now;
  private StringBuilder out = new StringBuilder();
  private long steps;
  private int depth;

  Rendering(Limits limits, ZonedDateTime now) {
    this.limits = limits;
    this.now = now;
  }

  /** The time that {@code strftime_now} tells. */
  ZonedDateTime now() {
    return now;
  }

  void write(String text) {
    checkSize((long) out.length() + text.length());
    out.append(text);
  }

  /** Puts a new output in place of the one at hand, which is given back. */
  StringBuilder redirect(StringBuilder to) {
    StringBuilder before = out;
    out = to;
    return before;
  }

  String output() {
    return out.toString();
  }

  void step() {
    step(1);
  }

  void step(long count) {
    steps += count;
    if (steps > limits.steps()) {
      throw new JinjaException(
          JinjaException.Kind.LIMIT,
          "rendering took more than " + limits.steps() + " steps; the template may never end");
    }
  }

  /** Checks that a text or list of this size may be made. */
  void checkSize(long size) {
    if (size > limits.size()) {
      throw new JinjaException(
          JinjaException.Kind.LIMIT,
          "a text or list of " + size + " elements would exceed the limit of " + limits.size());
    }
  }

  void enter() {
    if (++depth > limits.depth()) {
      throw new JinjaException(
          JinjaException.Kind.LIMIT,
          "macros or recursive loops are more than " + limits.depth() + " deep");
    }
  }

  void leave() {
    depth--;
  }
}
