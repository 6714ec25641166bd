package org.draftmill.corpus.text;

/** A conversation that the chat template refuses or fails on. */
public final class RenderException extends Exception {
  private final boolean templateAtFault;

  RenderException(String message, boolean templateAtFault, Throwable cause) {
    super(message, cause);
    this.templateAtFault = templateAtFault;
  }

  /** Whether the template uses what is not known, whatever the conversation. */
  public boolean isTemplateAtFault() {
    return templateAtFault;
  }
}
