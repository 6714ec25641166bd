package org.draftmill.benchmarks;

import java.io.IOException;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.draftmill.operators.drafter.collective.CollectiveOptions;
import org.draftmill.operators.drafter.collective.Listener;
import org.draftmill.operators.drafter.collective.LocalMembers;
import org.draftmill.operators.drafter.collective.Membership;
import org.draftmill.operators.drafter.collective.Membership.Member;
import org.draftmill.operators.drafter.collective.TcpCollective;

/**
 * What two drafters exchange at the end of a step: 64-bit sums are scattered and fp32 weights
 * gathered, over TCP on the loopback interface and through memory. Each sends half of 12 bytes a
 * parameter, see docs/sizing.md.
 */
public final class ReduceBenchmark {
  private static final int MEMBERS = 2;
  private static final int ROUNDS = 5;

  private final int parameters;
  private final List<TcpCollective> members = new ArrayList<>();
  private final List<LocalMembers> processes = new ArrayList<>();

  private ReduceBenchmark(int parameters, boolean oneProcess) throws IOException {
    this.parameters = parameters;
    List<Member> addresses = new ArrayList<>();
    for (int rank = 0; rank < MEMBERS; rank++) {
      if (rank == 0 || !oneProcess) {
        processes.add(new LocalMembers());
      }
      LocalMembers process = processes.get(processes.size() - 1);
      Listener listener = Listener.open(InetAddress.getLoopbackAddress());
      addresses.add(new Member(rank, "127.0.0.1", listener.port(), process.process()));
      members.add(
          new TcpCollective(rank, listener, process, new CollectiveOptions(Duration.ofMinutes(5))));
    }
    Membership group =
        new Membership(UUID.randomUUID(), new byte[Membership.SECRET_BYTES], addresses);
    all(member -> member.join(group));
  }

  /** {@code [--smoke]}: few parameters. */
  public static void main(String[] args) throws Exception {
    Results results = new Results("reduce", args);
    int parameters = results.isSmoke() ? 1 << 16 : 1 << 25;
    measure(results, "tcp", new ReduceBenchmark(parameters, false));
    measure(results, "memory", new ReduceBenchmark(parameters, true));
    results.write();
  }

  private static void measure(Results results, String name, ReduceBenchmark group) {
    double seconds = Double.POSITIVE_INFINITY;
    try {
      for (int round = 0; round < ROUNDS; round++) {
        long start = System.nanoTime();
        group.exchange();
        seconds = Math.min(seconds, (System.nanoTime() - start) * 1e-9);
      }
    } finally {
      group.members.forEach(TcpCollective::close);
      group.processes.forEach(LocalMembers::close);
    }
    double bytes = (Long.BYTES + Float.BYTES) * (double) group.parameters / MEMBERS;
    results.figure(name + "_milliseconds_per_million_parameters", 1e9 * seconds / group.parameters);
    results.figure(name + "_gigabytes_per_second_each_way", bytes / seconds / 1e9);
  }

  private void exchange() {
    int[] bounds = {0, parameters / 2, parameters};
    all(
        member -> {
          member.reduceScatter(new long[parameters], bounds);
          member.allGather(new float[parameters], bounds);
        });
  }

  private interface Part {
    void run(TcpCollective member) throws IOException;
  }

  private void all(Part part) {
    List<CompletableFuture<Void>> parts = new ArrayList<>();
    for (TcpCollective member : members) {
      parts.add(
          CompletableFuture.runAsync(
              () -> {
                try {
                  part.run(member);
                } catch (IOException e) {
                  throw new CompletionException(e);
                }
              },
              work -> new Thread(work, "member").start()));
    }
    parts.forEach(CompletableFuture::join);
  }
}
