package org.draftmill.compute.drafter;

import java.util.OptionalInt;
import java.util.function.IntPredicate;
import org.draftmill.compute.InputException;

/** Which embedding row stands for a token that is still to be drafted. */
public final class MaskToken {
  private MaskToken() {}

  /**
   * The id given by the user, else the tokenizer's own mask token, else the first embedding row
   * that no token uses.
   *
   * @param given the option {@code drafter.mask-token}
   * @param tokenizersOwn the id of the tokenizer's mask token
   * @param used whether some token has this id
   * @param vocabularyRows rows of the target's embedding
   * @throws InputException when a given id has no embedding row, or no row is free
   */
  public static int resolve(
      OptionalInt given, OptionalInt tokenizersOwn, IntPredicate used, int vocabularyRows) {
    if (given.isPresent()) {
      return checked(given.getAsInt(), "drafter.mask-token", vocabularyRows);
    }
    if (tokenizersOwn.isPresent()) {
      return checked(tokenizersOwn.getAsInt(), "the tokenizer's mask token", vocabularyRows);
    }
    for (int id = 0; id < vocabularyRows; id++) {
      if (!used.test(id)) {
        return id;
      }
    }
    throw new InputException(
        "The target has no mask token and each of its "
            + vocabularyRows
            + " embedding rows belongs to a token: name one that never occurs in the text as"
            + " drafter.mask-token.");
  }

  private static int checked(int id, String what, int vocabularyRows) {
    if (id < 0 || id >= vocabularyRows) {
      throw new InputException(
          what
              + " is "
              + id
              + ", but the target's embedding has the rows 0 to "
              + (vocabularyRows - 1)
              + ": name one of them as drafter.mask-token.");
    }
    return id;
  }
}
