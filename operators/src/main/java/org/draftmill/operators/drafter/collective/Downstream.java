package org.draftmill.operators.drafter.collective;

import java.io.IOException;

/** The link to the next member of the ring. */
interface Downstream {
  /** Starts an operation; {@code ready} elements of the route may be sent. */
  void begin(Transfer<?> transfer, Route route, long sequence) throws IOException;

  /** More of the route may be sent: {@code ready} elements from its start. */
  void ready(long elements);

  /**
   * Returns when the next member no longer needs this member's array: from then on it may change.
   */
  void finish() throws IOException;
}
