package org.draftmill.compute.drafter;

import java.util.Collections;
import java.util.List;
import org.draftmill.compute.ops.Heads;
import org.draftmill.compute.ops.RopeTable;

/** Small drafters of many shapes. */
final class TestingDrafters {
  private TestingDrafters() {}

  /** A drafter of the layers, taps, and block size given; everything else is small and odd. */
  static DrafterConfig config(int layers, List<Integer> taps, int blockSize) {
    return config(layers, taps, blockSize, new Heads(4, 2, 6), 20, 28, 23);
  }

  static DrafterConfig config(
      int layers,
      List<Integer> taps,
      int blockSize,
      Heads heads,
      int hidden,
      int intermediate,
      int vocabulary) {
    return new DrafterConfig(
        hidden,
        intermediate,
        heads,
        vocabulary,
        8,
        taps,
        blockSize,
        vocabulary - 1,
        Collections.nCopies(layers, false),
        0,
        1e-6f,
        rope(10_000, heads.headDim()),
        new DrafterConfig.Serving(10_000, null, 512, "1", "[1,2]"));
  }

  static RopeTable rope(double theta, int headDim) {
    double[] frequencies = new double[headDim / 2];
    for (int j = 0; j < frequencies.length; j++) {
      frequencies[j] = Math.pow(theta, -2.0 * j / headDim);
    }
    return new RopeTable(frequencies, 1.0);
  }
}
