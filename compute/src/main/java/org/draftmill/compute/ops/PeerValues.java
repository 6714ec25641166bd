package org.draftmill.compute.ops;

/**
 * Values on a device that other devices of the process take from, without the host in between: what
 * drafters exchange at the end of a step.
 */
public interface PeerValues {
  /** How many there are. */
  int size();

  /**
   * Takes the elements {@code from … to − 1} of a peer, which leaves them alone meanwhile: sums are
   * added to these, weights put in their place. Called by whoever computes on these values' device;
   * returns when it is done, so that the next peer may take them from here.
   *
   * @param peer of the same kind and size
   * @throws IllegalStateException when the peer's were closed: whoever had them has left
   */
  void take(PeerValues peer, int from, int to);
}
