package org.draftmill.corpus;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Random sequences for tests, a function of the seed. */
public final class Sequences {
  private Sequences() {}

  public static TokenizedSequence random(Random random, int longest) {
    int length = 1 + random.nextInt(longest);
    int[] ids = new int[length];
    byte[] mask = new byte[length];
    for (int i = 0; i < length; i++) {
      ids[i] = random.nextInt(150_000);
      mask[i] = (byte) random.nextInt(2);
    }
    return new TokenizedSequence(ids, mask);
  }

  public static List<TokenizedSequence> random(long seed, int count, int longest) {
    Random random = new Random(seed);
    List<TokenizedSequence> sequences = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      sequences.add(random(random, longest));
    }
    return sequences;
  }
}
