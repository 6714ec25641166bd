package org.draftmill.operators.drafter.rendezvous;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.draftmill.operators.drafter.collective.Membership;
import org.draftmill.operators.drafter.collective.Membership.Member;
import org.junit.jupiter.api.Test;

class RendezvousTest {
  private static final UUID PROCESS = UUID.randomUUID();

  private final Rendezvous rendezvous = new Rendezvous(2);

  private CompletableFuture<Optional<Membership>> register(int rank, int attempt) {
    return rendezvous.register(attempt, new Member(rank, "host", 1000 * attempt + rank, PROCESS));
  }

  @Test
  void allAreToldTheSameWhenAllAreThere() {
    var first = register(0, 0);
    assertThat(first).isNotDone();
    var second = register(1, 0);
    assertThat(first).isCompletedWithValueMatching(Optional::isPresent);
    assertThat(second.join()).isEqualTo(first.join());
    assertThat(first.join().orElseThrow().members()).extracting(Member::port).containsExactly(0, 1);
    assertThat(register(0, 0).join()).as("a lost answer is given again").isEqualTo(first.join());
  }

  @Test
  void registeringAgainReplacesTheOpenPoll() {
    var lost = register(0, 0);
    var open = register(0, 0);
    assertThat(lost.join()).isEmpty();
    register(1, 0);
    assertThat(open.join()).isPresent();
  }

  @Test
  void aFailureBreaksTheGroupForAllItsAttempts() {
    register(0, 0);
    Membership old = register(1, 0).join().orElseThrow();
    rendezvous.failed(1, 0);
    assertThat(register(0, 0).join()).as("an attempt of the broken group").isEmpty();
    var first = register(0, 1);
    assertThat(first).isNotDone();
    Membership next = register(1, 1).join().orElseThrow();
    assertThat(first.join()).contains(next);
    assertThat(next.group()).isNotEqualTo(old.group());
    assertThat(next.secret()).isNotEqualTo(old.secret());
  }

  @Test
  void newsOfOldAttemptsChangeNothing() {
    register(0, 3);
    Membership group = register(1, 4).join().orElseThrow();
    rendezvous.failed(0, 2);
    rendezvous.failed(1, 3);
    assertThat(register(1, 3).join()).isEmpty();
    assertThat(register(0, 3).join()).contains(group);
  }

  @Test
  void aResetMemberMustComeAgain() {
    var first = register(0, 0);
    rendezvous.reset(0);
    assertThat(first.join()).isEmpty();
    var second = register(1, 0);
    assertThat(second).isNotDone();
    assertThat(register(0, 0).join()).as("the attempt before the reset").isEmpty();
    register(0, 1);
    assertThat(second.join()).isPresent();
  }

  @Test
  void aNewAttemptWithoutNewsOfTheOldOneBreaksTheGroupToo() {
    register(0, 0);
    register(1, 0);
    var first = register(0, 1);
    assertThat(first).isNotDone();
    assertThat(register(1, 0).join()).isEmpty();
    assertThat(register(1, 1).join()).isPresent();
    assertThat(first.join()).isPresent();
  }
}
