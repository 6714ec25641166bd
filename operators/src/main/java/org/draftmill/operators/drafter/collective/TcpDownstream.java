package org.draftmill.operators.drafter.collective;

import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.draftmill.operators.drafter.collective.Membership.Member;

/**
 * Sends to a member of another process, on a thread of its own: so a member sends and receives at
 * once, and says that it is alive while it computes.
 */
final class TcpDownstream implements Downstream, Closeable {
  private final Socket socket;
  private final OutputStream out;
  private final Member peer;
  private final CollectiveOptions options;
  private final FrameFormat frame;
  private final Consumer<IOException> failed;
  private final Thread thread;

  private Transfer<?> transfer;
  private Route route;
  private long sequence;
  private long ready;
  private boolean closed;
  private long sent;
  private long total;

  /** Where the thread stands in the route. */
  private int round;

  private int at;

  /**
   * @param failed told, once, when the link breaks
   */
  TcpDownstream(Socket socket, Member peer, CollectiveOptions options, Consumer<IOException> failed)
      throws IOException {
    this.socket = socket;
    this.peer = peer;
    this.options = options;
    this.failed = failed;
    frame = new FrameFormat(options.piece() * Long.BYTES);
    out = socket.getOutputStream();
    thread = new Thread(this::run, "draftmill sender to " + peer);
    thread.setDaemon(true);
    thread.start();
  }

  @Override
  public synchronized void begin(Transfer<?> transfer, Route route, long sequence) {
    this.transfer = transfer;
    this.route = route;
    this.sequence = sequence;
    ready = route.ready();
    sent = 0;
    total = route.sent();
    round = 0;
    at = route.sendFrom(0);
    notifyAll();
  }

  @Override
  public synchronized void ready(long elements) {
    ready = elements;
    notifyAll();
  }

  /**
   * Here every member is inside the operation and reads without waiting for anything else, so one
   * that takes nothing for the timeout is at fault itself.
   */
  @Override
  public synchronized void finish() throws IOException {
    long before = sent;
    long deadline = System.nanoTime() + options.timeout().toNanos();
    while (sent < total && !closed) {
      if (sent > before) {
        before = sent;
        deadline = System.nanoTime() + options.timeout().toNanos();
      }
      if (!await(deadline - System.nanoTime())) {
        throw new IOException(
            "The exchange with %s failed in the %s: it took nothing for %d ms (drafter.reduce-timeout); its process or the network is gone."
                .formatted(peer, transfer, options.timeoutMillis()));
      }
    }
    if (closed) {
      throw new IOException("The exchange with " + peer + " was closed.");
    }
    transfer = null;
    route = null;
  }

  @Override
  public void close() throws IOException {
    synchronized (this) {
      closed = true;
      notifyAll();
    }
    socket.close();
  }

  private void run() {
    try {
      for (ByteBuffer next = next(); next != null; next = next()) {
        if (next.limit() == FrameFormat.HEADER) {
          sayAlive(next);
        } else {
          out.write(next.array(), 0, next.limit());
          delivered(next.limit() - FrameFormat.HEADER);
        }
      }
    } catch (IOException | RuntimeException e) {
      failed.accept(
          new IOException("The exchange with " + peer + " failed: " + e.getMessage() + ".", e));
    }
  }

  /** A member that left after the last operation is no failure: nothing is left to send to it. */
  private void sayAlive(ByteBuffer sign) throws IOException {
    try {
      out.write(sign.array(), 0, sign.limit());
    } catch (IOException e) {
      synchronized (this) {
        while (!closed && sent == total) {
          await(Long.MAX_VALUE);
        }
      }
      throw e;
    }
  }

  /** The next frame to send: data as soon as there is, else a sign of life; null at the end. */
  private synchronized ByteBuffer next() {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(options.aliveMillis());
    while (!closed) {
      int count = available();
      if (count > 0) {
        transfer.write(at, count, frame.payload());
        return frame.write(
            FrameFormat.DATA, transfer.code(), sequence, at, count * transfer.width());
      }
      if (!await(deadline - System.nanoTime())) {
        return frame.write(FrameFormat.ALIVE, (byte) 0, 0, 0, 0);
      }
    }
    return null;
  }

  /** Elements of the next piece, or 0 when it may not be sent yet. */
  private int available() {
    if (transfer == null || sent == total) {
      return 0;
    }
    while (at == route.sendTo(round)) {
      round++;
      at = route.sendFrom(round);
    }
    int count = Math.min(options.piece(), route.sendTo(round) - at);
    return sent + count <= ready ? count : 0;
  }

  private synchronized void delivered(int bytes) {
    int count = bytes / transfer.width();
    at += count;
    sent += count;
    notifyAll();
  }

  /** False when the time is over. */
  private boolean await(long nanos) {
    if (nanos <= 0) {
      return false;
    }
    try {
      TimeUnit.NANOSECONDS.timedWait(this, nanos);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      closed = true;
    }
    return true;
  }
}
