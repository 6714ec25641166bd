package org.draftmill.compute.drafter;

import java.io.IOException;
import java.util.List;
import java.util.stream.IntStream;
import org.draftmill.compute.InputException;
import org.draftmill.compute.ops.Masters;

/**
 * Makes sure that all drafters hold the same weights after a step, and compute by the same means:
 * none may drift unnoticed.
 */
final class WeightAgreement {
  private WeightAgreement() {}

  /**
   * Exchanges hashes of the weights and of the arithmetic.
   *
   * @param arithmetic of this drafter's backend, see {@link
   *     org.draftmill.compute.ops.Backend#arithmetic}
   * @throws InputException when drafters compute by other means, so that weights would depend on
   *     who took which microbatch
   * @throws IOException naming the drafters whose weights differ from the first one's
   */
  static void check(Collective collective, long step, Masters weights, String arithmetic)
      throws IOException {
    int size = collective.size();
    if (size == 1) {
      return;
    }
    long[] hashes = new long[2 * size];
    hashes[collective.rank()] = weights.fingerprint() * 31 + step;
    hashes[size + collective.rank()] = arithmetic.hashCode();
    collective.allReduce(hashes); // every place is filled by one member alone
    List<Integer> others = different(hashes, size, 2 * size);
    if (!others.isEmpty()) {
      throw new InputException(
          "The drafters %s compute by other means than drafter 0, and the weights would depend on who took which microbatch; this is drafter %d, with %s. Give all of them the same device (drafter.device), the same kind of GPU and the same products (run.products), and with cublas the same version of the library."
              .formatted(others, collective.rank(), arithmetic));
    }
    List<Integer> different = different(hashes, 0, size);
    if (!different.isEmpty()) {
      throw new IOException(
          "After step "
              + step
              + " the drafters "
              + different
              + " hold other weights than drafter 0, or are at another step. They started from"
              + " different weights, or one has faulty memory; training has to go on from a"
              + " checkpoint.");
    }
  }

  /** The ranks whose value is not that of the first. */
  private static List<Integer> different(long[] values, int from, int to) {
    return IntStream.range(from, to)
        .filter(at -> values[at] != values[from])
        .mapToObj(at -> at - from)
        .toList();
  }
}
