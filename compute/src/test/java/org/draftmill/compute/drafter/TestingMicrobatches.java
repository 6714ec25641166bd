package org.draftmill.compute.drafter;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.draftmill.compute.DType;

/** Microbatches of random tokens, masks and hidden states. */
final class TestingMicrobatches {
  private TestingMicrobatches() {}

  /** Documents of these lengths; about a fifth of the tokens is not supervised. */
  static Microbatch random(DrafterConfig config, long seed, int... lengths) {
    Random random = new Random(seed);
    int rows = 0;
    int[] starts = new int[lengths.length + 1];
    long[] sequences = new long[lengths.length];
    for (int d = 0; d < lengths.length; d++) {
      sequences[d] = seed * 1000 + d;
      rows += lengths[d];
      starts[d + 1] = rows;
    }
    int[] ids = random.ints(rows, 0, config.vocabularySize() - 1).toArray();
    byte[] mask = new byte[rows];
    for (int i = 0; i < rows; i++) {
      mask[i] = (byte) (random.nextInt(5) == 0 ? 0 : 1);
    }
    return new Microbatch(0, sequences, starts, ids, mask, hidden(config, random, rows));
  }

  /** The same with other masks. */
  static Microbatch withMask(Microbatch microbatch, byte[] lossMask) {
    return new Microbatch(
        microbatch.epoch(),
        microbatch.sequenceIds(),
        microbatch.documentStarts(),
        microbatch.inputIds(),
        lossMask,
        microbatch.hidden());
  }

  private static List<HiddenRows> hidden(DrafterConfig config, Random random, int rows) {
    List<HiddenRows> pieces = new ArrayList<>();
    int first = 0;
    while (first < rows) { // in pieces that respect no document
      int count = Math.min(rows - first, 1 + random.nextInt(9));
      pieces.add(
          new HiddenRows(
              first,
              count,
              states(random, count * config.tapColumns()),
              states(random, count * config.hiddenSize()),
              DType.BF16));
      first += count;
    }
    return pieces;
  }

  private static ByteBuffer states(Random random, int count) {
    ByteBuffer bytes = ByteBuffer.allocate(2 * count).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < count; i++) {
      bytes.putShort((short) (Float.floatToRawIntBits((float) random.nextGaussian()) >>> 16));
    }
    return bytes.flip();
  }
}
