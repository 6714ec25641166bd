package org.draftmill.operators.drafter.collective;

import java.util.Comparator;
import java.util.List;

/**
 * The order in which the members pass parts on. Members of one process are neighbours, so that as
 * few links as possible leave it; every member computes the same order.
 */
final class Ring {
  /** {@code [size]} the rank at each place. */
  private final int[] ranks;

  private final int place;

  Ring(List<Membership.Member> members, int rank) {
    ranks =
        members.stream()
            .sorted(
                Comparator.comparing(Membership.Member::process)
                    .thenComparingInt(Membership.Member::rank))
            .mapToInt(Membership.Member::rank)
            .toArray();
    int found = 0;
    while (ranks[found] != rank) {
      found++;
    }
    place = found;
  }

  int size() {
    return ranks.length;
  }

  /** The rank that this member sends to. */
  int next() {
    return back(-1);
  }

  /** The rank that this member receives from. */
  int previous() {
    return back(1);
  }

  /** The rank that stands {@code places} behind this member. */
  int back(int places) {
    return ranks[Math.floorMod(place - places, ranks.length)];
  }
}
