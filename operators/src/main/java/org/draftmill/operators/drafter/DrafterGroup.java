package org.draftmill.operators.drafter;

import java.io.Closeable;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.operators.coordination.CoordinationRequest;
import org.apache.flink.util.SerializedValue;
import org.draftmill.compute.drafter.Collective;
import org.draftmill.operators.drafter.collective.Listener;
import org.draftmill.operators.drafter.collective.LocalMembers;
import org.draftmill.operators.drafter.collective.Membership;
import org.draftmill.operators.drafter.collective.Membership.Member;
import org.draftmill.operators.drafter.collective.TcpCollective;
import org.draftmill.operators.drafter.rendezvous.GroupAnswer;
import org.draftmill.operators.drafter.rendezvous.Registration;
import org.draftmill.operators.start.StartClock;

/**
 * A drafter's place among the drafters of this execution attempt. It listens from the start and
 * registers with the coordinator until all others have; the answers do not pass through the
 * mailbox, so a checkpoint's barrier cannot stand in their way. {@link #close} may come from any
 * thread.
 */
final class DrafterGroup implements TrainingLoop.Group, Closeable {
  private static final long PAUSE_MILLIS = 100;

  private final Environment environment;
  private final OperatorID operator;
  private final int rank;
  private final int size;
  private final LocalMembers local;
  private final String resource;
  private final Duration patience;
  private final TcpCollective collective; // null for a group of one
  private final Member member;
  private volatile String token;

  private DrafterGroup(Environment environment, OperatorID operator, DrafterSettings settings)
      throws Exception {
    this.environment = environment;
    this.operator = operator;
    rank = environment.getTaskInfo().getIndexOfThisSubtask();
    size = environment.getTaskInfo().getNumberOfParallelSubtasks();
    patience = settings.startTimeout();
    resource = "draftmill.drafters." + environment.getJobID();
    if (size == 1) {
      local = null;
      collective = null;
      member = null;
      token = token(UUID.randomUUID());
      return;
    }
    local =
        environment
            .getSharedResources()
            .getOrAllocateSharedResource(resource, this, bytes -> new LocalMembers(), 0)
            .resourceHandle();
    try {
      String host =
          settings
              .bindHost()
              .orElse(environment.getTaskManagerInfo().getTaskManagerExternalAddress());
      Listener listener = Listener.open(host);
      collective = new TcpCollective(rank, listener, local, settings.collective());
      member = new Member(rank, host, listener.port(), local.process());
    } catch (IOException e) {
      release();
      throw e;
    }
  }

  /** Starts listening. */
  static DrafterGroup open(Environment environment, OperatorID operator, DrafterSettings settings)
      throws Exception {
    return new DrafterGroup(environment, operator, settings);
  }

  @Override
  public Collective join() throws IOException {
    if (collective == null) {
      return Collective.alone();
    }
    Membership members = meet();
    collective.join(members);
    token = token(members.group());
    return collective;
  }

  /** Names the group in file names, once it has met: eight hexadecimal digits. */
  String token() {
    return token;
  }

  /** Waits for those that are still starting, though not for ever. */
  private Membership meet() throws IOException {
    long deadline = System.nanoTime() + patience.toNanos();
    SerializedValue<CoordinationRequest> registration =
        new SerializedValue<>(
            new Registration(environment.getTaskInfo().getAttemptNumber(), member));
    try {
      while (true) {
        Optional<GroupAnswer> answer = ask(registration);
        if (answer.isPresent() && answer.get().group().isPresent()) {
          return answer.get().group().get();
        }
        if (System.nanoTime() - deadline > 0) {
          throw new IOException(notMet(answer));
        }
        Thread.sleep(PAUSE_MILLIS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("Interrupted while drafter " + rank + " waited for the others.", e);
    }
  }

  private String notMet(Optional<GroupAnswer> answer) {
    return "Drafter %d of %d has waited for the others for %d s, longer than %s allows: %s."
        .formatted(
            rank,
            size,
            patience.toSeconds(),
            StartClock.TIMEOUT.key(),
            answer
                .map(last -> "drafters " + last.missing() + " have not come")
                .orElse("the JobManager does not answer"));
  }

  /** Empty where there is no answer this time. */
  private Optional<GroupAnswer> ask(SerializedValue<CoordinationRequest> registration)
      throws IOException, InterruptedException {
    try {
      return Optional.of(
          GroupAnswer.unpack(
              environment
                  .getOperatorCoordinatorEventGateway()
                  .sendRequestToCoordinator(operator, registration)
                  .get()));
    } catch (ExecutionException e) {
      if (e.getCause() instanceof TimeoutException) {
        return Optional.empty(); // a JobManager that is busy is asked again
      }
      throw new IOException("The drafters' coordinator does not answer: " + e.getCause(), e);
    }
  }

  private static String token(UUID group) {
    return "%08x".formatted(group.hashCode());
  }

  /** Leaves the group: whoever waits for it fails at once. */
  @Override
  public void close() throws IOException {
    if (collective == null) {
      return;
    }
    collective.close();
  }

  /** Gives back what the drafters of this process share, after {@link #close}. */
  void release() throws Exception {
    if (local != null) {
      environment.getSharedResources().release(resource, this, bytes -> {});
    }
  }
}
