package org.draftmill.corpus.rows;

/**
 * A row, or a sequence of it, that is not used.
 *
 * @param detail a sentence that says what was found
 */
public record Rejection(RejectionReason reason, String detail) implements Row {}
