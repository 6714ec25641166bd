package org.draftmill.corpus.rows;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.draftmill.corpus.TokenizedSequence;
import org.draftmill.corpus.text.RenderException;
import org.draftmill.corpus.text.TargetText;

/**
 * Turns lines of input into training sequences for one target. Thread-safe.
 *
 * <p>Chats are rendered by the target's own template, see {@link RenderedChat} and {@link
 * ChatEncoder}. A document of plain text is encoded with the tokens that the tokenizer adds to a
 * text, ended by the target's end-of-text token, and supervised throughout. Rows that come
 * tokenized are taken as they are.
 */
public final class RowEncoder {
  private final TargetText target;
  private final int maxLength;
  private final RowReader reader = new RowReader();
  private final ChatEncoder chats;

  /**
   * @param maxLength the most tokens of a sequence; 0 for no limit
   */
  public RowEncoder(TargetText target, int maxLength) {
    if (maxLength < 0) {
      throw new IllegalArgumentException("maxLength must not be negative, got " + maxLength);
    }
    this.target = target;
    this.maxLength = maxLength;
    this.chats = new ChatEncoder(target);
  }

  /** What a line of a JSONL file gives. */
  public EncodedRow encode(String line) {
    return encode(reader.read(line));
  }

  /** What a row gives. */
  public EncodedRow encode(Row row) {
    if (row instanceof Conversation chat) {
      return encodeChat(chat);
    }
    if (row instanceof Row.PlainText text) {
      return encodeText(text.text());
    }
    if (row instanceof Row.Tokenized tokenized) {
      return checked(List.of(tokenized.sequence()));
    }
    return row instanceof Rejection rejection ? EncodedRow.of(rejection) : EncodedRow.NOTHING;
  }

  private EncodedRow encodeText(String text) {
    if (text.isEmpty()) {
      return rejected(RejectionReason.NO_SUPERVISED_TOKEN, "its text is empty");
    }
    int[] ids = target.tokenizer().encode(text, true);
    OptionalInt end = target.endOfText();
    if (end.isPresent() && (ids.length == 0 || ids[ids.length - 1] != end.getAsInt())) {
      ids = Arrays.copyOf(ids, ids.length + 1);
      ids[ids.length - 1] = end.getAsInt();
    }
    byte[] mask = new byte[ids.length];
    Arrays.fill(mask, (byte) 1);
    return checked(List.of(new TokenizedSequence(ids, mask)));
  }

  private EncodedRow encodeChat(Conversation chat) {
    if (target.chatTemplate().isEmpty()) {
      return rejected(
          RejectionReason.NO_CHAT_TEMPLATE,
          "the target " + target.name() + " has no chat template");
    }
    try {
      List<TokenizedSequence> sequences = new ArrayList<>();
      for (RenderedChat rendered : RenderedChat.render(target.chatTemplate().get(), chat)) {
        Optional<TokenizedSequence> encoded = chats.encode(rendered);
        if (encoded.isEmpty()) {
          return rejected(
              RejectionReason.NO_TOKEN_BORDER, "a token reaches across the start of an answer");
        }
        sequences.add(encoded.get());
      }
      return sequences.isEmpty()
          ? rejected(RejectionReason.NO_SUPERVISED_TOKEN, "the assistant says nothing in it")
          : checked(sequences);
    } catch (RenderException e) {
      return rejected(RejectionReason.TEMPLATE_ERROR, e.getMessage());
    } catch (RenderedChat.NoPrefixException e) {
      return rejected(RejectionReason.NO_PREFIX, e.getMessage());
    }
  }

  /** Divides sequences into those that can be used and those that cannot. */
  private EncodedRow checked(List<TokenizedSequence> sequences) {
    List<TokenizedSequence> kept = new ArrayList<>(sequences.size());
    List<Rejection> rejections = new ArrayList<>();
    for (TokenizedSequence sequence : sequences) {
      if (maxLength > 0 && sequence.length() > maxLength) {
        rejections.add(
            new Rejection(
                RejectionReason.TOO_LONG,
                "%d tokens, at most %d are allowed".formatted(sequence.length(), maxLength)));
      } else if (sequence.supervised() == 0) {
        rejections.add(
            new Rejection(
                RejectionReason.NO_SUPERVISED_TOKEN,
                "none of its %d tokens is supervised".formatted(sequence.length())));
      } else {
        kept.add(sequence);
      }
    }
    return new EncodedRow(kept, rejections);
  }

  private static EncodedRow rejected(RejectionReason reason, String detail) {
    return EncodedRow.of(new Rejection(reason, detail));
  }
}
