package org.draftmill.corpus.jinja;

/**
 * Bounds of one rendering, so that no template runs for ever or fills the memory.
 *
 * @param steps the most statements, calls and elements visited
 * @param size the most characters of a text, the output included, and elements of a list
 * @param depth the most macros and recursive loops within each other
 */
public record Limits(long steps, int size, int depth) {
  public static final Limits DEFAULT = new Limits(10_000_000, 64 << 20, 100);
}
