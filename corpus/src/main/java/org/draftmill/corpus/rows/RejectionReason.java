package org.draftmill.corpus.rows;

/** Why a row, or one of the sequences that it would give, is not used. */
public enum RejectionReason {
  /** The line is no JSON object. */
  MALFORMED_JSON("malformed-json"),
  /** It has none of the known shapes, or one with a wrong or missing part. */
  UNKNOWN_SHAPE("unknown-shape"),
  /** It is a chat, and the target has no chat template. */
  NO_CHAT_TEMPLATE("no-chat-template"),
  /** The chat template refuses it or fails on it. */
  TEMPLATE_ERROR("template-error"),
  /** The chat up to an answer, with the generation prompt, is no prefix of the chat with it. */
  NO_PREFIX("no-prefix"),
  /** No tokens can be found that end where an answer begins. */
  NO_TOKEN_BORDER("no-token-border"),
  /** Nothing in it is to be learned: no answer, no text. */
  NO_SUPERVISED_TOKEN("no-supervised-token"),
  /** It has more tokens than allowed; it is never cut. */
  TOO_LONG("too-long");

  private final String option;

  RejectionReason(String option) {
    this.option = option;
  }

  /** The word by which files and counters name it. */
  public String option() {
    return option;
  }
}
