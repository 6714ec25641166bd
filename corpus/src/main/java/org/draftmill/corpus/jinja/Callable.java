package org.draftmill.corpus.jinja;

/** Something that a template can call. */
@FunctionalInterface
interface Callable {
  Object call(Rendering rendering, Arguments arguments);
}
