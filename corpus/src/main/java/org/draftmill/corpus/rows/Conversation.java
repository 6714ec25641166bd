package org.draftmill.corpus.rows;

import java.util.List;
import java.util.Map;

/**
 * A chat as the template will see it.
 *
 * @param messages each with a {@code role}, and all else that the row says, unchanged
 * @param variables {@code tools}, {@code documents} and switches of the template, where given
 */
public record Conversation(List<Map<String, Object>> messages, Map<String, Object> variables)
    implements Row {
  static final String ROLE = "role";
  static final String ASSISTANT = "assistant";

  /** Whether message {@code i} is an answer of the model. */
  boolean isAnswer(int i) {
    return ASSISTANT.equals(messages.get(i).get(ROLE));
  }
}
