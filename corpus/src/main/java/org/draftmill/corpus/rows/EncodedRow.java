package org.draftmill.corpus.rows;

import java.util.List;
import org.draftmill.corpus.TokenizedSequence;

/**
 * What a row gives: as a rule one sequence or one rejection, several where a template rewrites
 * history, nothing for an empty line.
 */
public record EncodedRow(List<TokenizedSequence> sequences, List<Rejection> rejections) {
  static final EncodedRow NOTHING = new EncodedRow(List.of(), List.of());

  static EncodedRow of(Rejection rejection) {
    return new EncodedRow(List.of(), List.of(rejection));
  }
}
