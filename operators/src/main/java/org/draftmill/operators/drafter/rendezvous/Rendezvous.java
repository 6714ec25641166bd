package org.draftmill.operators.drafter.rendezvous;

import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.draftmill.operators.drafter.collective.Membership;
import org.draftmill.operators.drafter.collective.Membership.Member;

/**
 * Where the drafters of an execution attempt find each other. Each registers until it gets an
 * answer; when all have registered, all are told the same group and its fresh secret. A group is
 * used once: when one of its members failed, all must come again with a new attempt. Nothing here
 * blocks; not thread-safe.
 */
final class Rendezvous {
  private static final SecureRandom RANDOM = new SecureRandom();

  private final Seat[] seats;
  private Membership group;

  /**
   * @param size of the group
   */
  Rendezvous(int size) {
    seats = new Seat[size];
    Arrays.setAll(seats, rank -> new Seat());
  }

  /**
   * Registers an attempt of a member; the same again changes nothing.
   *
   * @return completes with the group, or with nothing if the attempt is of the past or was
   *     registered again before the group was found
   */
  CompletableFuture<Optional<Membership>> register(int attempt, Member member) {
    Seat seat = seats[member.rank()];
    if (group != null && attempt >= seat.next()) {
      dissolve();
    }
    if (attempt < seat.oldest) {
      return CompletableFuture.completedFuture(Optional.empty());
    }
    if (group != null) {
      return CompletableFuture.completedFuture(Optional.of(group));
    }
    CompletableFuture<Optional<Membership>> answer = seat.take(attempt, member);
    if (Arrays.stream(seats).allMatch(Seat::taken)) {
      form();
    }
    return answer;
  }

  /** The members that have not registered. */
  List<Integer> missing() {
    List<Integer> missing = new ArrayList<>();
    for (int rank = 0; rank < seats.length; rank++) {
      if (!seats[rank].taken()) {
        missing.add(rank);
      }
    }
    return missing;
  }

  /** An attempt ended; one that has a successor already is of no interest. */
  void failed(int rank, int attempt) {
    Seat seat = seats[rank];
    if (attempt < seat.oldest) {
      return;
    }
    if (group != null) {
      dissolve();
    }
    seat.leave(attempt + 1);
  }

  /** All attempts so far of a member are over. */
  void reset(int rank) {
    if (group != null) {
      dissolve();
    }
    seats[rank].leave(seats[rank].next());
  }

  /** The group is broken: none of its attempts may come back. */
  private void dissolve() {
    group = null;
    for (Seat seat : seats) {
      seat.leave(seat.next());
    }
  }

  private void form() {
    byte[] secret = new byte[Membership.SECRET_BYTES];
    RANDOM.nextBytes(secret);
    List<Member> members = new ArrayList<>();
    for (Seat seat : seats) {
      members.add(seat.member);
    }
    group = new Membership(UUID.randomUUID(), secret, members);
    for (Seat seat : seats) {
      seat.answer(Optional.of(group));
    }
  }

  /** One member's place. */
  private static final class Seat {
    private int oldest; // attempts before this one are of the past
    private int attempt;
    private Member member; // null when nobody is registered
    private CompletableFuture<Optional<Membership>> open;

    boolean taken() {
      return member != null;
    }

    /** The first attempt that is not of the past once the registered one is over. */
    int next() {
      return taken() ? attempt + 1 : oldest;
    }

    CompletableFuture<Optional<Membership>> take(int newAttempt, Member newMember) {
      answer(Optional.empty());
      oldest = newAttempt;
      attempt = newAttempt;
      member = newMember;
      open = new CompletableFuture<>();
      return open;
    }

    void leave(int next) {
      answer(Optional.empty());
      oldest = Math.max(oldest, next);
      member = null;
    }

    void answer(Optional<Membership> answer) {
      if (open != null) {
        open.complete(answer);
        open = null;
      }
    }
  }
}
