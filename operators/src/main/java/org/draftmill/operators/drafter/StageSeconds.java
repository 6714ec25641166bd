package org.draftmill.operators.drafter;

import java.io.IOException;
import org.draftmill.compute.drafter.Collective;

/**
 * Where the time of a step went.
 *
 * @param waitPool without a microbatch to work on
 * @param forward layers and vocabulary head
 * @param backward gradients, and adding them up
 * @param reduce waiting for and exchanging with the other drafters
 * @param optimizer norm, AdamW, loading the new weights
 */
record StageSeconds(
    double waitPool, double forward, double backward, double reduce, double optimizer) {
  private static final double NANOS = 1e9;

  /** Added up over all members, to the nanosecond. */
  StageSeconds sum(Collective collective) throws IOException {
    long[] nanos = {
      (long) (waitPool * NANOS),
      (long) (forward * NANOS),
      (long) (backward * NANOS),
      (long) (reduce * NANOS),
      (long) (optimizer * NANOS)
    };
    collective.allReduce(nanos);
    return new StageSeconds(
        nanos[0] / NANOS, nanos[1] / NANOS, nanos[2] / NANOS, nanos[3] / NANOS, nanos[4] / NANOS);
  }
}
