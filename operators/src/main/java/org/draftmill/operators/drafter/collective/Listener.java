package org.draftmill.operators.drafter.collective;

import java.io.Closeable;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The port at which a member waits for the one before it, bound to one address. Whoever cannot
 * prove that it is that member is turned away; several callers are heard at once, so that a silent
 * stranger keeps nobody waiting.
 */
public final class Listener implements Closeable {
  private static final Logger LOG = LoggerFactory.getLogger(Listener.class);
  private static final int HEARD_AT_ONCE = 32;
  private static final int HANDSHAKE_MILLIS = 10_000;

  private final ServerSocket server;
  private final Set<Socket> heard = ConcurrentHashMap.newKeySet();
  private final CompletableFuture<Socket> accepted = new CompletableFuture<>();

  private Listener(ServerSocket server) {
    this.server = server;
  }

  /**
   * @param address of this host, as its peers reach it; the port is chosen by the system
   */
  public static Listener open(InetAddress address) throws IOException {
    ServerSocket server = new ServerSocket();
    try {
      server.bind(new InetSocketAddress(address, 0), 64);
    } catch (IOException e) {
      server.close();
      throw new IOException(
          "Drafters cannot listen at %s: %s. Set drafter.bind-host to an address of this host."
              .formatted(address, e.getMessage()),
          e);
    }
    return new Listener(server);
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
    Semaphore room = new Semaphore(HEARD_AT_ONCE);
    try {
      while (!accepted.isDone()) {
        Socket caller = server.accept();
        if (room.tryAcquire()) {
          heard.add(caller);
          daemon(
              "draftmill handshake " + caller.getRemoteSocketAddress(),
              () -> {
                hear(caller, handshake);
                room.release();
              });
        } else {
          caller.close();
        }
      }
    } catch (IOException e) {
      accepted.completeExceptionally(new IOException("The drafter's port was closed.", e));
    }
  }

  private void hear(Socket caller, Handshake handshake) {
    try {
      caller.setSoTimeout(HANDSHAKE_MILLIS);
      caller.setTcpNoDelay(true);
      handshake.answer(caller);
      heard.remove(caller);
      if (accepted.complete(caller)) {
        server.close();
        return;
      }
    } catch (IOException e) {
      LOG.warn("Turned away {}: {}.", caller.getRemoteSocketAddress(), e.getMessage());
    }
    heard.remove(caller);
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
    for (Socket caller : heard) {
      caller.close();
    }
  }

  private static void daemon(String name, Runnable work) {
    Thread thread = new Thread(work, name);
    thread.setDaemon(true);
    thread.start();
  }
}
