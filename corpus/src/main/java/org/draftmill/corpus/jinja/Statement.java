package org.draftmill.corpus.jinja;

/** A part of a template that does something. Immutable; walked by any number of threads. */
interface Statement {
  /** Whether the loop around it goes on. */
  enum Flow {
    ON,
    BREAK,
    CONTINUE
  }

  Flow run(Rendering rendering, Scope scope);
}
