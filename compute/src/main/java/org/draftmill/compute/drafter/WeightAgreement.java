package org.draftmill.compute.drafter;

import java.io.IOException;
import java.util.List;
import java.util.stream.IntStream;
import org.draftmill.compute.InputException;
import org.draftmill.compute.ops.Masters;

/**
 * Makes sure that all drafters compute by the same means, and hold the same weights after a step:
 * none may drift unnoticed.
 */
final class WeightAgreement {
  private WeightAgreement() {}

  /**
   * Compares what drafters compute with. Before their first step together: what they exchange in it
   * already depends on where it lies.
   *
   * @param arithmetic of this drafter's backend, see {@link
   *     org.draftmill.compute.ops.Backend#arithmetic}
   * @throws InputException when drafters compute by other means, so that weights would depend on
   *     who took which microbatch
   */
  static void requireSameMeans(Collective collective, String arithmetic) throws IOException {
    List<Integer> others = different(collective, arithmetic.hashCode());
    if (!others.isEmpty()) {
      throw new InputException(
          "The drafters %s compute by other means than drafter 0, and the weights would depend on who took which microbatch; this is drafter %d, with %s. Give all of them the same device (drafter.device), the same kind of GPU and the same products (run.products), and with cublas the same version of the library."
              .formatted(others, collective.rank(), arithmetic));
    }
  }

  /**
   * Exchanges hashes of the weights.
   *
   * @throws IOException naming the drafters whose weights differ from the first one's
   */
  static void check(Collective collective, long step, Masters weights) throws IOException {
    if (collective.size() == 1) {
      return;
    }
    List<Integer> different = different(collective, weights.fingerprint() * 31 + step);
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
  private static List<Integer> different(Collective collective, long value) throws IOException {
    long[] values = new long[collective.size()];
    values[collective.rank()] = value;
    collective.allReduce(values); // every place is filled by one member alone
    return IntStream.range(0, values.length)
        .filter(rank -> values[rank] != values[0])
        .boxed()
        .toList();
  }
}
