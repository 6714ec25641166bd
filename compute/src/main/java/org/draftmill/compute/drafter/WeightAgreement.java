package org.draftmill.compute.drafter;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.draftmill.compute.ops.Masters;

/** Makes sure that all drafters hold the same weights after a step: none may drift unnoticed. */
final class WeightAgreement {
  private WeightAgreement() {}

  /**
   * Exchanges a hash of the weights.
   *
   * @throws IOException naming the drafters that differ from the first
   */
  static void check(Collective collective, long step, Masters weights) throws IOException {
    if (collective.size() == 1) {
      return;
    }
    long[] hashes = new long[collective.size()];
    hashes[collective.rank()] = weights.fingerprint() * 31 + step;
    collective.allReduce(hashes); // every place is filled by one member alone
    List<Integer> different = new ArrayList<>();
    IntStream.range(1, hashes.length)
        .filter(rank -> hashes[rank] != hashes[0])
        .forEach(different::add);
    if (!different.isEmpty()) {
      throw new IOException(
          "After step "
              + step
              + " the drafters "
              + different
              + " hold other weights than drafter 0, or are at another step. They started from"
              + " different weights, run on different backends, or one has faulty memory; training"
              + " has to go on from a checkpoint.");
    }
  }
}
