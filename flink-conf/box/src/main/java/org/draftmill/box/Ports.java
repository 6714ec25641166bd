package org.draftmill.box;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;

/** Ports of this machine. */
final class Ports {
  private static final int HIGHEST = 65_535;

  private Ports() {}

  /** One that is free now. */
  static int free() {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    } catch (IOException e) {
      throw BoxException.failed("No port is free: %s.", e.getMessage());
    }
  }

  /**
   * The port itself when it can be had, or a free one for 0.
   *
   * @param what it is for, and {@code remedy} how to choose another
   * @throws BoxException if somebody else has it
   */
  static int require(int port, String what, String remedy) {
    if (port == 0) {
      return free();
    }
    if (port < 0 || port > HIGHEST) {
      throw BoxException.unusable(
          "The port of %s is %d, but ports are 1 to %d, or 0 for any: %s.",
          what, port, HIGHEST, remedy);
    }
    try (ServerSocket socket = new ServerSocket()) {
      socket.setReuseAddress(true);
      socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
      return port;
    } catch (IOException e) {
      throw BoxException.unusable(
          "Port %d of %s cannot be had (%s): end what uses it, or %s.",
          port, what, e.getMessage(), remedy);
    }
  }
}
