package org.draftmill.operators.drafter.collective;

import java.io.IOException;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.draftmill.compute.drafter.Collective;

/** Members of one group, each on a thread of its own, in as many "processes" as a test likes. */
final class TestingGroup implements AutoCloseable {
  final List<TcpCollective> members = new ArrayList<>();
  final List<LocalMembers> processes = new ArrayList<>();
  final Membership membership;
  private final ExecutorService threads = Executors.newCachedThreadPool();

  /**
   * @param processOf {@code [size]} the process that each member runs in
   */
  TestingGroup(CollectiveOptions options, int... processOf) throws IOException {
    List<Listener> listeners = new ArrayList<>();
    List<Membership.Member> addresses = new ArrayList<>();
    for (int rank = 0; rank < processOf.length; rank++) {
      while (processes.size() <= processOf[rank]) {
        processes.add(new LocalMembers());
      }
      LocalMembers local = processes.get(processOf[rank]);
      Listener listener = Listener.open(InetAddress.getLoopbackAddress());
      listeners.add(listener);
      addresses.add(new Membership.Member(rank, "127.0.0.1", listener.port(), local.process()));
      members.add(new TcpCollective(rank, listener, local, options));
    }
    membership = new Membership(UUID.randomUUID(), secret(1), addresses);
  }

  static byte[] secret(int fill) {
    byte[] secret = new byte[Membership.SECRET_BYTES];
    java.util.Arrays.fill(secret, (byte) fill);
    return secret;
  }

  TestingGroup joined() throws Exception {
    all(member -> ((TcpCollective) member).join(membership));
    return this;
  }

  /** Runs the same on all members and returns when all are done; throws the first failure. */
  void all(Part part) throws Exception {
    for (Future<?> future : startAll(part)) {
      get(future);
    }
  }

  /** Runs the same on all members and returns what each failed with, of those that failed. */
  List<Exception> failures(Part part) throws Exception {
    List<Exception> failures = new ArrayList<>();
    for (Future<?> future : startAll(part)) {
      try {
        get(future);
      } catch (java.io.IOException | RuntimeException e) {
        failures.add(e);
      }
    }
    return failures;
  }

  private List<Future<?>> startAll(Part part) {
    List<Future<?>> parts = new ArrayList<>();
    for (TcpCollective member : members) {
      parts.add(start(member, part));
    }
    return parts;
  }

  Future<?> start(TcpCollective member, Part part) {
    return threads.submit(
        () -> {
          part.run(member);
          return null;
        });
  }

  /** The outcome of a part, as it was thrown. */
  static void get(Future<?> future) throws Exception {
    try {
      future.get(5, TimeUnit.MINUTES);
    } catch (ExecutionException e) {
      throw e.getCause() instanceof Exception cause ? cause : e;
    }
  }

  @Override
  public void close() {
    members.forEach(TcpCollective::close);
    threads.shutdownNow();
  }

  /** What one member does. */
  interface Part {
    void run(Collective member) throws Exception;
  }
}
