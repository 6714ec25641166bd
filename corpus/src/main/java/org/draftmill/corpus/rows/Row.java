package org.draftmill.corpus.rows;

import org.draftmill.corpus.TokenizedSequence;

/** What a line of input says. */
public sealed interface Row
    permits Conversation, Row.PlainText, Row.Tokenized, Row.Blank, Rejection {
  /** A document. */
  record PlainText(String text) implements Row {}

  /** A sequence that was tokenized elsewhere. */
  record Tokenized(TokenizedSequence sequence) implements Row {}

  /** An empty line, which is no row at all. */
  record Blank() implements Row {}
}
