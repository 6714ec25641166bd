package org.draftmill.operators.drafter.collective;

import java.io.Serializable;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;

/**
 * The drafters of one execution attempt of the job, as their rendezvous found them. Every member
 * holds the same.
 *
 * @param group names this group among all that ever meet
 * @param secret {@code [32]} known to nobody else; never printed
 * @param members {@code [size]} by rank
 */
public record Membership(UUID group, byte[] secret, List<Member> members) implements Serializable {
  private static final long serialVersionUID = 1L;

  /** Bytes of a secret. */
  public static final int SECRET_BYTES = 32;

  public Membership {
    if (secret.length != SECRET_BYTES) {
      throw new IllegalArgumentException(
          "A group's secret has " + SECRET_BYTES + " bytes, not " + secret.length + ".");
    }
    members = List.copyOf(members);
    for (int rank = 0; rank < members.size(); rank++) {
      if (members.get(rank).rank() != rank) {
        throw new IllegalArgumentException(
            "Member " + rank + " of the group says that it is " + members.get(rank) + ".");
      }
    }
  }

  public int size() {
    return members.size();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Membership that
        && group.equals(that.group)
        && Arrays.equals(secret, that.secret)
        && members.equals(that.members);
  }

  @Override
  public int hashCode() {
    return group.hashCode();
  }

  @Override
  public String toString() {
    return "Membership[" + group + ", " + members + "]";
  }

  /**
   * Where a member listens.
   *
   * @param rank its place in the group
   * @param host address that the others can reach
   * @param port of its {@link Listener}
   * @param process equal for members that share memory, see {@link LocalMembers#process()}
   */
  public record Member(int rank, String host, int port, UUID process) implements Serializable {
    private static final long serialVersionUID = 1L;

    @Override
    public String toString() {
      return "drafter " + rank + " at " + host + ":" + port;
    }
  }
}
