package org.draftmill.corpus.rows;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.draftmill.corpus.text.ChatTemplate;
import org.draftmill.corpus.text.RenderException;

/**
 * A chat as text, and which parts of it the model itself would write.
 *
 * @param text the rendered chat up to an answer
 * @param answers where in it the answers lie, in order
 */
record RenderedChat(String text, List<Span> answers) {
  /** A part of a text, in UTF-16 units. */
  record Span(int start, int end) {}

  /** An answer whose prefix cannot be found. */
  static final class NoPrefixException extends Exception {
    NoPrefixException(int message) {
      super(
          "the chat up to message %d with the generation prompt is no prefix of the chat with it"
              .formatted(message),
          null,
          false,
          false);
    }
  }

  /**
   * Renders a chat so that every answer is seen by the model exactly once, behind the history that
   * it would have had.
   *
   * <p>An answer is what the chat up to and with it has beyond the chat before it with the
   * generation prompt. As long as a later rendering only adds to the earlier ones, answers share a
   * text; where the template rewrites history, a new one begins.
   */
  static List<RenderedChat> render(ChatTemplate template, Conversation chat)
      throws RenderException, NoPrefixException {
    List<RenderedChat> rendered = new ArrayList<>();
    List<Map<String, Object>> messages = chat.messages();
    RenderedChat current = null;
    for (int i = 0; i < messages.size(); i++) {
      if (!chat.isAnswer(i)) {
        continue;
      }
      String prefix = template.render(messages.subList(0, i), chat.variables(), true);
      String whole = template.render(messages.subList(0, i + 1), chat.variables(), false);
      if (!whole.startsWith(prefix)) {
        throw new NoPrefixException(i);
      }
      List<Span> answers = new ArrayList<>();
      if (current != null && prefix.startsWith(current.text())) {
        answers.addAll(current.answers());
        rendered.remove(rendered.size() - 1);
      }
      answers.add(new Span(prefix.length(), whole.length()));
      current = new RenderedChat(whole, answers);
      rendered.add(current);
    }
    return rendered;
  }
}
