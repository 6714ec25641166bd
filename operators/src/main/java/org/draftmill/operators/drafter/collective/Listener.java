package org.draftmill.operators.drafter.collective;

import java.io.Closeable;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The port at which a member waits for the one before it, bound to one address. Whoever cannot
 * prove that it is that member is turned away. Several callers are heard at once, each for a few
 * seconds in all, and one too many takes the place of the oldest: so neither a silent stranger, nor
 * one who speaks a byte at a time, nor a crowd of them keeps anybody waiting.
 */
public final class Listener implements Closeable {
  private static final Logger LOG = LoggerFactory.getLogger(Listener.class);
  private static final int HEARD_AT_ONCE = 32;
  private static final Duration LONGEST_HANDSHAKE = Duration.ofSeconds(10);
  private static final int LOOK_MILLIS = 250;

  private final ServerSocket server;
  private final Duration longestHandshake;
  private final Map<Socket, Long> heard = new LinkedHashMap<>(); // until when, oldest first
  private final CompletableFuture<Socket> accepted = new CompletableFuture<>();

  private Listener(ServerSocket server, Duration longestHandshake) {
    this.server = server;
    this.longestHandshake = longestHandshake;
  }

  /**
   * @param host name or address of this host, as its peers reach it
   */
  public static Listener open(String host) throws IOException {
    InetAddress address;
    try {
      address = InetAddress.getByName(host);
    } catch (UnknownHostException e) {
      throw unusable(host, "no host is known by this name", e);
    }
    return open(address);
  }

  /**
   * @param address of this host, as its peers reach it; the port is chosen by the system
   */
  public static Listener open(InetAddress address) throws IOException {
    return open(address, LONGEST_HANDSHAKE);
  }

  /**
   * @param longestHandshake after which a caller is turned away
   */
  static Listener open(InetAddress address, Duration longestHandshake) throws IOException {
    ServerSocket server = new ServerSocket();
    try {
      server.bind(new InetSocketAddress(address, 0), 64);
      server.setSoTimeout(LOOK_MILLIS);
    } catch (IOException e) {
      server.close();
      throw unusable(address, e.getMessage(), e);
    }
    return new Listener(server, longestHandshake);
  }

  private static IOException unusable(Object place, String why, IOException cause) {
    // Without its cause as one: it is the last of the causes that a user is told.
    IOException unusable =
        new IOException(
            "Drafters cannot listen at %s: %s. Set drafter.bind-host to an address of this host."
                .formatted(place, why));
    unusable.addSuppressed(cause);
    return unusable;
  }

  public int port() {
    return server.getLocalPort();
  }

  /** Completes with the connection of the one caller that passes the handshake. */
  CompletableFuture<Socket> accept(Handshake handshake) {
    daemon("draftmill listener " + port(), () -> listen(handshake));
    return accepted;
  }

  private void listen(Handshake handshake) {
    try {
      while (!accepted.isDone()) {
        Socket caller;
        try {
          caller = server.accept();
        } catch (SocketTimeoutException e) {
          turnAwayLate();
          continue;
        }
        turnAwayLate();
        add(caller);
        daemon(
            "draftmill handshake " + caller.getRemoteSocketAddress(),
            () -> hear(caller, handshake));
      }
    } catch (IOException e) {
      accepted.completeExceptionally(new IOException("The drafter's port was closed.", e));
    }
  }

  private synchronized void add(Socket caller) throws IOException {
    if (heard.size() == HEARD_AT_ONCE) {
      Iterator<Socket> oldest = heard.keySet().iterator();
      oldest.next().close();
      oldest.remove();
    }
    heard.put(caller, System.nanoTime() + longestHandshake.toNanos());
  }

  private synchronized void turnAwayLate() throws IOException {
    long now = System.nanoTime();
    for (Iterator<Map.Entry<Socket, Long>> all = heard.entrySet().iterator(); all.hasNext(); ) {
      Map.Entry<Socket, Long> caller = all.next();
      if (now - caller.getValue() > 0) {
        caller.getKey().close();
        all.remove();
      }
    }
  }

  private synchronized void remove(Socket caller) {
    heard.remove(caller);
  }

  private void hear(Socket caller, Handshake handshake) {
    try {
      caller.setSoTimeout((int) longestHandshake.toMillis());
      caller.setTcpNoDelay(true);
      handshake.answer(caller);
      remove(caller);
      if (accepted.complete(caller)) {
        server.close();
        return;
      }
    } catch (IOException e) {
      LOG.warn("Turned away {}: {}.", caller.getRemoteSocketAddress(), e.getMessage());
    }
    remove(caller);
    try {
      caller.close();
    } catch (IOException e) {
      LOG.debug("Could not close the connection of {}.", caller.getRemoteSocketAddress(), e);
    }
  }

  /** Closes the port and the connections that are not accepted yet. */
  @Override
  public void close() throws IOException {
    accepted.completeExceptionally(new IOException("The drafter's port was closed."));
    server.close();
    synchronized (this) {
      for (Socket caller : heard.keySet()) {
        caller.close();
      }
    }
  }

  private static void daemon(String name, Runnable work) {
    Thread thread = new Thread(work, name);
    thread.setDaemon(true);
    thread.start();
  }
}
