package org.draftmill.operators.drafter.collective;

import java.io.IOException;

/** The link from the previous member of the ring. */
interface Upstream {
  /** Waits for elements {@code from … from + count − 1} of an operation and takes them. */
  void receive(Transfer<?> transfer, long sequence, int from, int count) throws IOException;

  /** All elements of the operation were taken. */
  void finished(long sequence);
}
