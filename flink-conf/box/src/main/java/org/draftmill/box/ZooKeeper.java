package org.draftmill.box;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.HighAvailabilityOptions;

/** The ZooKeeper server that Flink's jars contain: one is enough for a box. */
final class ZooKeeper {
  private static final String ADDRESS = "localhost:";

  private ZooKeeper() {}

  static void configure(Configuration flink, Layout layout, int port) {
    flink.set(HighAvailabilityOptions.HA_MODE, "zookeeper");
    flink.set(HighAvailabilityOptions.HA_ZOOKEEPER_QUORUM, ADDRESS + port);
    flink.set(
        HighAvailabilityOptions.HA_STORAGE_PATH, BoxConfig.address(layout.ha().resolve("flink")));
    flink.set(HighAvailabilityOptions.HA_CLUSTER_ID, "/box");
  }

  static boolean isConfigured(Configuration flink) {
    return flink.get(HighAvailabilityOptions.HA_MODE).equalsIgnoreCase("zookeeper");
  }

  private static int port(Configuration flink) {
    String quorum = flink.get(HighAvailabilityOptions.HA_ZOOKEEPER_QUORUM);
    return Integer.parseInt(quorum.substring(ADDRESS.length()));
  }

  /** Writes what the server reads. */
  static Path writeConfig(Layout layout, Configuration flink) throws IOException {
    return Files.write(
        layout.conf().resolve("zoo.cfg"),
        List.of(
            "dataDir=" + layout.ha().resolve("zookeeper"),
            "clientPort=" + port(flink),
            "clientPortAddress=localhost",
            "admin.enableServer=false",
            "tickTime=2000",
            "initLimit=10",
            "syncLimit=5"));
  }

  static boolean answers(Configuration flink) {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port(flink))) {
      return socket.isConnected();
    } catch (IOException e) {
      return false;
    }
  }
}
