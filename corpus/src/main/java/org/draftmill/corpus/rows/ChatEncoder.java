package org.draftmill.corpus.rows;

import java.util.Arrays;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import org.draftmill.corpus.TokenizedSequence;
import org.draftmill.corpus.rows.RenderedChat.Span;
import org.draftmill.corpus.text.TargetText;
import org.draftmill.corpus.text.TextTokenizer;
import org.draftmill.corpus.text.TokenSpans;

/**
 * Tokenizes a rendered chat and masks its answers.
 *
 * <p>The chat is encoded as a whole, as a serving engine encodes a history. As a rule a token ends
 * where an answer begins. Where one reaches across (the prompt ends in a newline, the answer begins
 * with one, and the tokenizer has a token for two), the model could never have produced it: it was
 * given the prompt's tokens and went on from there. Then the text is encoded in parts that are cut
 * at those places, if the parts mean the same text as the whole.
 */
final class ChatEncoder {
  private final TargetText target;
  private final TextTokenizer tokenizer;

  ChatEncoder(TargetText target) {
    this.target = target;
    this.tokenizer = target.tokenizer();
  }

  /** The tokens and mask; empty if no tokens end where the answers begin. */
  Optional<TokenizedSequence> encode(RenderedChat chat) {
    String text = chat.text();
    TokenSpans tokens = tokenizer.encodeSpans(text);
    SortedSet<Integer> crossed = new TreeSet<>();
    for (Span answer : chat.answers()) {
      addIfCrossed(crossed, tokens, text, answer.start());
      addIfCrossed(crossed, tokens, text, answer.end());
    }
    if (!crossed.isEmpty()) {
      TokenSpans parts = encodeParts(text, crossed);
      if (!tokenizer.decode(parts.ids()).equals(tokenizer.decode(tokens.ids()))) {
        return Optional.empty();
      }
      tokens = parts;
    }
    byte[] mask = new byte[tokens.ids().length];
    for (Span answer : chat.answers()) {
      mark(mask, tokens, text, answer);
    }
    return Optional.of(new TokenizedSequence(tokens.ids(), mask));
  }

  private static void addIfCrossed(
      SortedSet<Integer> crossed, TokenSpans tokens, String text, int border) {
    int place = text.codePointCount(0, border);
    int first = firstFrom(tokens, place);
    if (first > 0 && tokens.ends()[first - 1] > place) {
      crossed.add(border);
    }
  }

  /** The first token that begins at or behind a place, given in code points. */
  private static int firstFrom(TokenSpans tokens, int place) {
    int low = 0;
    int high = tokens.ids().length;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (tokens.starts()[middle] >= place) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }

  private TokenSpans encodeParts(String text, SortedSet<Integer> cuts) {
    SortedSet<Integer> ends = new TreeSet<>(cuts);
    ends.add(text.length());
    int[] ids = new int[0];
    int[] starts = new int[0];
    int[] stops = new int[0];
    int from = 0;
    for (int end : ends) {
      int place = text.codePointCount(0, from);
      TokenSpans part = tokenizer.encodeSpans(text.substring(from, end));
      ids = append(ids, part.ids(), 0);
      starts = append(starts, part.starts(), place);
      stops = append(stops, part.ends(), place);
      from = end;
    }
    return new TokenSpans(ids, starts, stops);
  }

  private static int[] append(int[] to, int[] more, int shift) {
    int[] all = Arrays.copyOf(to, to.length + more.length);
    for (int i = 0; i < more.length; i++) {
      all[to.length + i] = more[i] + shift;
    }
    return all;
  }

  /**
   * Marks an answer up to and with the first token at which the model stops; what the template
   * writes behind it, such as a newline, the model would never generate. A template that writes no
   * stop token has its answers marked but for blanks at the end.
   */
  private void mark(byte[] mask, TokenSpans tokens, String text, Span answer) {
    int first = firstFrom(tokens, text.codePointCount(0, answer.start()));
    int end = firstFrom(tokens, text.codePointCount(0, answer.end()));
    for (int i = first; i < end; i++) {
      if (target.isStop(tokens.ids()[i])) {
        Arrays.fill(mask, first, i + 1, (byte) 1);
        return;
      }
    }
    String written = text.substring(answer.start(), answer.end()).stripTrailing();
    int stripped = text.codePointCount(0, answer.start() + written.length());
    Arrays.fill(mask, first, firstFrom(tokens, stripped), (byte) 1);
  }
}
