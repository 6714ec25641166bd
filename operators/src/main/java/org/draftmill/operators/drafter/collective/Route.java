package org.draftmill.operators.drafter.collective;

/**
 * Which parts of an array a member sends and receives in one operation, in what order and in what
 * pieces. In round {@code t} of {@code size − 1} it receives the part that it sends in round {@code
 * t + 1}; so what it may send is what it sent first plus all it has received, and pieces travel
 * through the ring without waiting for whole parts.
 */
final class Route {
  private final Ring ring;
  private final int[] bounds;
  private final int first;

  /**
   * @param bounds {@code [size + 1]} the parts, by rank
   * @param first how many places behind this member the part that it sends first belongs
   */
  Route(Ring ring, int[] bounds, int first) {
    this.ring = ring;
    this.bounds = bounds;
    this.first = first;
  }

  int rounds() {
    return ring.size() - 1;
  }

  /** First element of the part sent in a round. */
  int sendFrom(int round) {
    return bounds[ring.back(first + round)];
  }

  /** End of the part sent in a round. */
  int sendTo(int round) {
    return bounds[ring.back(first + round) + 1];
  }

  int receiveFrom(int round) {
    return sendFrom(round + 1);
  }

  int receiveTo(int round) {
    return sendTo(round + 1);
  }

  /** Elements of the part that is sent first. */
  int ready() {
    return sendTo(0) - sendFrom(0);
  }

  /** Elements sent in all rounds. */
  long sent() {
    long elements = 0;
    for (int round = 0; round < rounds(); round++) {
      elements += sendTo(round) - sendFrom(round);
    }
    return elements;
  }
}
