package org.draftmill.operators.drafter.collective;

import java.io.Closeable;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.draftmill.compute.drafter.Collective;
import org.draftmill.compute.ops.ExactSums;
import org.draftmill.compute.ops.Masters;
import org.draftmill.compute.ops.PeerValues;
import org.draftmill.operators.drafter.collective.Membership.Member;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A ring of drafters: every member sends to the next and receives from the previous one, through
 * memory within a process and over TCP between processes. An array crosses the ring in pieces, so
 * each member sends {@code (size − 1) / size} of it once per operation, whatever the size.
 *
 * <p>A broken ring stays broken: after a failure every call throws its first cause. {@link #close}
 * may come from any thread and ends a blocked call at once.
 */
public final class TcpCollective implements Collective, Closeable {
  private static final Logger LOG = LoggerFactory.getLogger(TcpCollective.class);
  private static final long RETRY_MILLIS = 50;

  private final Listener listener;
  private final LocalMembers local;
  private final CollectiveOptions options;
  private final int rank;
  private final Transfer.Sums sums;
  private final Transfer.Longs longs = new Transfer.Longs();
  private final Transfer.Floats floats = new Transfer.Floats();
  private final Transfer.Doubles doubles = new Transfer.Doubles();
  private final Transfer.Peers peerSums = new Transfer.Peers(5, "reduce-scatter between devices");
  private final Transfer.Peers peerWeights = new Transfer.Peers(6, "all-gather between devices");
  private final List<Closeable> resources = new ArrayList<>();

  private Membership membership;
  private Ring ring;
  private Upstream upstream;
  private Downstream downstream;
  private boolean together; // all members are of this process
  private long sequence;
  private long[] gathered = {};
  private boolean closed;
  private IOException failure;

  /**
   * A member that has not met its group yet.
   *
   * @param rank of this member
   * @param listener its port, owned from now on
   * @param local shared by the members of this process
   */
  public TcpCollective(int rank, Listener listener, LocalMembers local, CollectiveOptions options) {
    this.rank = rank;
    this.listener = listener;
    this.local = local;
    this.options = options;
    sums = new Transfer.Sums(options.piece());
    resources.add(listener);
  }

  /** Meets the group: returns when both neighbours are linked. Blocks up to the timeout. */
  public void join(Membership members) throws IOException {
    membership = members;
    ring = new Ring(members.members(), rank);
    together = members.members().stream().allMatch(this::inMemory);
    if (ring.size() == 1) {
      listener.close();
      return;
    }
    try {
      Member next = members.members().get(ring.next());
      Member previous = members.members().get(ring.previous());
      CompletableFuture<Socket> caller = null;
      if (inMemory(previous)) {
        listener.close();
        upstream = link(previous.rank(), rank);
      } else {
        caller = listener.accept(new Handshake(members, previous.rank(), rank));
      }
      downstream =
          inMemory(next)
              ? link(rank, next.rank())
              : own(new TcpDownstream(call(next), next, options, this::failed));
      if (caller != null) {
        upstream = own(new TcpUpstream(await(caller, previous), previous, options));
      }
    } catch (IOException e) {
      throw failure(e);
    }
  }

  @Override
  public int rank() {
    return rank;
  }

  @Override
  public int size() {
    return membership.size();
  }

  @Override
  public void allReduce(long[] values) throws IOException {
    int size = size();
    if (gathered.length != size * values.length) {
      gathered = new long[size * values.length];
    }
    int[] bounds = new int[size + 1];
    for (int member = 0; member <= size; member++) {
      bounds[member] = member * values.length;
    }
    System.arraycopy(values, 0, gathered, bounds[rank], values.length);
    run(longs.of(gathered), bounds, 0);
    for (int i = 0; i < values.length; i++) {
      long sum = 0;
      for (int member = 0; member < size; member++) {
        sum += gathered[bounds[member] + i];
      }
      values[i] = sum;
    }
  }

  @Override
  public void reduceScatter(long[] values, int[] bounds) throws IOException {
    run(sums.of(values), bounds, 1);
  }

  @Override
  public void allGather(float[] values, int[] bounds) throws IOException {
    run(floats.of(values), bounds, 0);
  }

  @Override
  public void allGather(double[] values, int[] bounds) throws IOException {
    run(doubles.of(values), bounds, 0);
  }

  /** From device to device where all members are of this process, else by way of the host. */
  @Override
  public void reduceScatter(ExactSums values, int[] bounds) throws IOException {
    Optional<PeerValues> onDevice = together ? values.forPeers() : Optional.empty();
    if (onDevice.isPresent()) {
      run(peerSums.of(onDevice.get()), bounds, 1);
    } else {
      Collective.super.reduceScatter(values, bounds);
    }
  }

  @Override
  public void allGather(Masters weights, int[] bounds) throws IOException {
    Optional<PeerValues> onDevice = together ? weights.forPeers() : Optional.empty();
    if (onDevice.isPresent()) {
      run(peerWeights.of(onDevice.get()), bounds, 0);
    } else {
      Collective.super.allGather(weights, bounds);
    }
  }

  /** Leaves the group; the neighbours fail if they still need this member. */
  @Override
  public void close() {
    List<Closeable> open;
    synchronized (this) {
      closed = true;
      open = List.copyOf(resources);
      resources.clear();
    }
    for (Closeable resource : open) {
      try {
        resource.close();
      } catch (IOException e) {
        LOG.debug("Could not close a link of drafter {}.", rank, e);
      }
    }
  }

  private void run(Transfer<?> transfer, int[] bounds, int first) throws IOException {
    checkBounds(transfer, bounds);
    if (ring.size() == 1) {
      transfer.release();
      return;
    }
    try {
      checkOpen();
      Route route = new Route(ring, bounds, first);
      sequence++;
      downstream.begin(transfer, route, sequence);
      long ready = route.ready();
      int atOnce = transfer.atOnce(options);
      for (int round = 0; round < route.rounds(); round++) {
        int end = route.receiveTo(round);
        for (int from = route.receiveFrom(round); from < end; from += atOnce) {
          int count = Math.min(atOnce, end - from);
          upstream.receive(transfer, sequence, from, count);
          ready += count;
          downstream.ready(ready);
        }
      }
      upstream.finished(sequence);
      downstream.finish();
    } catch (IOException e) {
      throw failure(e);
    } finally {
      transfer.release();
    }
  }

  private void checkBounds(Transfer<?> transfer, int[] bounds) {
    boolean ascends = bounds.length == ring.size() + 1 && bounds[0] == 0;
    for (int i = 1; ascends && i < bounds.length; i++) {
      ascends = bounds[i] >= bounds[i - 1];
    }
    if (!ascends || bounds[bounds.length - 1] != transfer.length()) {
      throw new IllegalArgumentException(
          "The bounds %s do not divide %d values among %d drafters."
              .formatted(java.util.Arrays.toString(bounds), transfer.length(), ring.size()));
    }
  }

  private boolean inMemory(Member member) {
    return options.throughMemory() && member.process().equals(local.process());
  }

  private LocalLink link(int from, int to) throws IOException {
    LocalLink link = local.link(membership.group(), from, to);
    own(() -> local.leave(membership.group(), from, to, "drafter " + rank));
    return link;
  }

  /** Calls the next member until it answers or the time is over. */
  private Socket call(Member next) throws IOException {
    long deadline = System.nanoTime() + options.timeout().toNanos();
    Handshake handshake = new Handshake(membership, rank, next.rank());
    while (true) {
      Socket socket = own(new Socket());
      try {
        int left = (int) Math.max(1, (deadline - System.nanoTime()) / 1_000_000);
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(left);
        socket.connect(new InetSocketAddress(next.host(), next.port()), left);
        handshake.call(socket);
        return socket;
      } catch (Handshake.Refused e) {
        socket.close();
        throw new IOException(
            "%s was refused as the next drafter: %s.".formatted(next, e.getMessage()), e);
      } catch (IOException e) {
        socket.close();
        disown(socket);
        checkOpen();
        if (System.nanoTime() > deadline) {
          throw new IOException(
              "Could not reach %s within %d ms (drafter.reduce-timeout): %s."
                  .formatted(next, options.timeoutMillis(), e.getMessage()),
              e);
        }
        pause();
      }
    }
  }

  private Socket await(CompletableFuture<Socket> caller, Member previous) throws IOException {
    try {
      return own(caller.get(options.timeoutMillis(), TimeUnit.MILLISECONDS));
    } catch (TimeoutException e) {
      throw new IOException(
          "%s did not call within %d ms (drafter.reduce-timeout)."
              .formatted(previous, options.timeoutMillis()),
          e);
    } catch (ExecutionException e) {
      throw new IOException(e.getCause().getMessage(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("Interrupted while waiting for " + previous + ".", e);
    }
  }

  private static void pause() throws IOException {
    try {
      Thread.sleep(RETRY_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("Interrupted while calling the next drafter.", e);
    }
  }

  private synchronized void checkOpen() throws IOException {
    if (closed) {
      throw failure != null ? failure : new IOException("Drafter " + rank + " has left its group.");
    }
  }

  /** Keeps the first cause and breaks the ring. */
  private IOException failure(IOException e) {
    failed(e);
    synchronized (this) {
      return failure != null
          ? failure
          : new IOException("Drafter " + rank + " left its group: " + e.getMessage(), e);
    }
  }

  private void failed(IOException e) {
    synchronized (this) {
      if (closed) {
        return;
      }
      failure = e;
    }
    close();
  }

  private synchronized <T extends Closeable> T own(T resource) throws IOException {
    if (closed) {
      resource.close();
      checkOpen();
    }
    resources.add(resource);
    return resource;
  }

  private synchronized void disown(Closeable resource) {
    resources.remove(resource);
  }
}
