package org.draftmill.corpus;

import java.util.Arrays;
import java.util.Objects;

/**
 * One training sequence.
 *
 * @param inputIds token ids, {@code [length]}
 * @param lossMask 1 where the token is one that the target itself would generate, else 0, {@code
 *     [length]}
 */
public record TokenizedSequence(int[] inputIds, byte[] lossMask) {
  public TokenizedSequence {
    Objects.requireNonNull(inputIds);
    Objects.requireNonNull(lossMask);
    if (inputIds.length != lossMask.length) {
      throw new IllegalArgumentException(
          inputIds.length + " input ids but " + lossMask.length + " mask entries");
    }
  }

  /** Number of tokens. */
  public int length() {
    return inputIds.length;
  }

  /** Number of tokens with a mask of one. */
  public int supervised() {
    int count = 0;
    for (byte flag : lossMask) {
      count += flag;
    }
    return count;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof TokenizedSequence that
        && Arrays.equals(inputIds, that.inputIds)
        && Arrays.equals(lossMask, that.lossMask);
  }

  @Override
  public int hashCode() {
    return 31 * Arrays.hashCode(inputIds) + Arrays.hashCode(lossMask);
  }

  @Override
  public String toString() {
    return "TokenizedSequence[" + length() + " tokens, " + supervised() + " supervised]";
  }
}
