package org.draftmill.job.evaluate;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
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
import org.draftmill.job.prepare.LineReader;

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
    try (LineReader lines = LineReader.of(file)) {
      for (int number = 1; lines.next(); number++) {
        if (limit > 0 && prompts.size() == limit) {
          break;
        }
        String place = file + ", line " + number;
        Row row = rows.read(text(lines.line(), place));
        if (!(row instanceof Row.Blank)) {
          prompts.add(encode(row, target, place));
        }
      }
    }
    if (prompts.isEmpty()) {
      throw new InputException("The file " + file + " holds no prompt.");
    }
    return prompts;
  }

  private static String text(byte[] line, String place) {
    if (line == null) {
      throw new InputException(
          place + ": it is longer than " + LineReader.MAX_LINE_BYTES + " bytes.");
    }
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(line)).toString();
    } catch (CharacterCodingException e) {
      throw new InputException(place + ": it is not UTF-8; is this a file of JSON lines?", e);
    }
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
