package org.draftmill.box;

import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The environment variables by which Flink finds its folders. */
final class FlinkEnvironment {
  private FlinkEnvironment() {}

  static Map<String, String> of(Layout layout, FlinkHome home) {
    return new TreeMap<>(
        Map.of(
            "FLINK_CONF_DIR", layout.conf().toString(),
            "FLINK_LIB_DIR", home.lib().toString(),
            "FLINK_PLUGINS_DIR", home.plugins().toString(),
            "FLINK_LOG_DIR", layout.log().toString()));
  }

  /** As a file that a shell sources before it starts Flink's command line. */
  static void write(Layout layout, FlinkHome home) throws IOException {
    List<String> lines =
        of(layout, home).entrySet().stream()
            .map(entry -> "export " + entry.getKey() + "=" + quoted(entry.getValue()))
            .toList();
    Files.write(layout.conf().resolve("client.env"), lines);
  }

  private static String quoted(String value) {
    return "'" + value.replace("'", "'\\''") + "'";
  }
}
