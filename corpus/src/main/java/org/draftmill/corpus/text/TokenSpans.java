package org.draftmill.corpus.text;

/**
 * A text as tokens that know where they come from.
 *
 * @param ids token ids, {@code [tokens]}
 * @param starts where each begins in the text, in code points, {@code [tokens]}
 * @param ends where each ends, {@code [tokens]}; tokens that share a character give the same span
 */
public record TokenSpans(int[] ids, int[] starts, int[] ends) {}
