package org.draftmill.operators.drafter.collective;

import java.io.IOException;

/**
 * A link between two members of one process: the receiver reads the sender's array. The sender says
 * how far its array may be read, the receiver says when it has read all of it.
 */
final class LocalLink implements Downstream, Upstream {
  private final int from;
  private final int to;
  private Source source;
  private long sequence = -1;
  private long ready;
  private long taken;
  private long finished = -1;
  private String closedBy;

  LocalLink(int from, int to) {
    this.from = from;
    this.to = to;
  }

  @Override
  public synchronized void begin(Transfer<?> transfer, Route route, long operation)
      throws IOException {
    check();
    source = Source.of(transfer);
    sequence = operation;
    ready = route.ready();
    taken = 0;
    notifyAll();
  }

  @Override
  public synchronized void ready(long elements) {
    ready = elements;
    notifyAll();
  }

  @Override
  public synchronized void finish() throws IOException {
    while (finished < sequence) {
      await();
    }
    source = null;
  }

  @Override
  public void receive(Transfer<?> transfer, long operation, int first, int count)
      throws IOException {
    Source peer;
    synchronized (this) {
      while (sequence < operation || ready < taken + count) {
        await();
      }
      peer = source;
    }
    if (peer.code() != transfer.code() || peer.length() != transfer.length()) {
      throw new IOException(
          "Operation %d is the %s of %d values for drafter %d, but the %s of %d values for drafter %d: they do not train the same step."
              .formatted(
                  operation, peer.name(), peer.length(), from, transfer, transfer.length(), to));
    }
    try {
      transfer.take(first, count, peer.values());
    } catch (IllegalStateException e) {
      throw new IOException(
          "The exchange between drafters %d and %d ended: %s.".formatted(from, to, e.getMessage()),
          e);
    }
    synchronized (this) {
      taken += count;
    }
  }

  @Override
  public synchronized void finished(long operation) {
    finished = operation;
    notifyAll();
  }

  /** Ends the link: whoever waits on it fails. True when somebody else had ended it before. */
  synchronized boolean close(String who) {
    boolean again = closedBy != null && !closedBy.equals(who);
    if (closedBy == null) {
      closedBy = who;
    }
    notifyAll();
    return again;
  }

  private void await() throws IOException {
    check();
    try {
      wait();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("Interrupted while exchanging between drafters " + from + " and " + to);
    }
  }

  private void check() throws IOException {
    if (closedBy != null) {
      throw new IOException(
          "The exchange between drafters %d and %d was closed by %s."
              .formatted(from, to, closedBy));
    }
  }

  /**
   * What the sender began with. Kept apart from its transfer, which the sender lets go of as soon
   * as it fails, perhaps while the receiver still reads.
   */
  private record Source(byte code, String name, int length, Object values) {
    static Source of(Transfer<?> transfer) {
      return new Source(transfer.code(), transfer.toString(), transfer.length(), transfer.values());
    }
  }
}
