package org.draftmill.job.evaluate;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.draftmill.corpus.InputException;
import org.draftmill.corpus.rows.Conversation;
import org.draftmill.corpus.rows.Rejection;
import org.draftmill.corpus.rows.Row;
import org.draftmill.corpus.rows.RowReader;
import org.draftmill.corpus.text.RenderException;
import org.draftmill.corpus.text.TargetText;

/**
 * Prompts of a JSONL file as token ids: chats up to their last question with the target's
 * generation prompt, plain text as it is.
 */
public final class Prompts {
  private Prompts() {}

  /**
   * @param limit the most prompts that are taken, from the first on; 0 for all
   * @throws InputException naming file and line of what cannot be a prompt
   */
  public static List<int[]> read(Path file, TargetText target, int limit) throws IOException {
    List<int[]> prompts = new ArrayList<>();
    RowReader rows = new RowReader();
    try (BufferedReader reader = Files.newBufferedReader(file)) {
      String line;
      for (int number = 1; (line = reader.readLine()) != null; number++) {
        if (limit > 0 && prompts.size() == limit) {
          break;
        }
        Row row = rows.read(line);
        if (!(row instanceof Row.Blank)) {
          prompts.add(encode(row, target, file + ", line " + number));
        }
      }
    } catch (NoSuchFileException e) {
      throw new InputException("There are no prompts at " + file + ".", e);
    }
    if (prompts.isEmpty()) {
      throw new InputException("The file " + file + " holds no prompt.");
    }
    return prompts;
  }

  private static int[] encode(Row row, TargetText target, String place) {
    if (row instanceof Conversation chat) {
      return encode(chat, target, place);
    } else if (row instanceof Row.PlainText text && !text.text().isEmpty()) {
      return target.tokenizer().encode(text.text(), true);
    } else if (row instanceof Row.Tokenized tokenized && tokenized.sequence().length() > 0) {
      return tokenized.sequence().inputIds();
    }
    String found = row instanceof Rejection rejection ? rejection.detail() : "it is empty";
    throw new InputException(place + ": this is no prompt: " + found + ".");
  }

  private static int[] encode(Conversation chat, TargetText target, String place) {
    if (target.chatTemplate().isEmpty()) {
      throw new InputException(
          place + ": this is a chat, but the target " + target.name() + " has no chat template.");
    }
    List<Map<String, Object>> messages = chat.messages();
    while (!messages.isEmpty()
        && "assistant".equals(messages.get(messages.size() - 1).get("role"))) {
      messages = messages.subList(0, messages.size() - 1);
    }
    try {
      String prompt = target.chatTemplate().get().render(messages, chat.variables(), true);
      return target.tokenizer().encode(prompt, false);
    } catch (RenderException e) {
      throw new InputException(
          place + ": the chat template refuses it: " + e.getMessage() + ".", e);
    }
  }
}
