package org.draftmill.corpus.text;

import java.util.Map;

/** A template that is ready to render, whichever engine does it. Thread-safe. */
@FunctionalInterface
interface ChatRenderer {
  /**
   * Renders once.
   *
   * @param variables what the template sees: texts, truth values, {@code Long}, {@code Double},
   *     lists and maps of these, null
   */
  String render(Map<String, ?> variables) throws RenderException;
}
