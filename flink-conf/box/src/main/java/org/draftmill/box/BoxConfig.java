package org.draftmill.box;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.CoreOptions;
import org.apache.flink.configuration.GlobalConfiguration;
import org.apache.flink.configuration.HighAvailabilityOptions;
import org.apache.flink.configuration.JobManagerOptions;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.configuration.TaskManagerOptions;

/** Flink's configuration of a box: the user's file, with everything bound to this machine. */
final class BoxConfig {
  private static final String HOST = "localhost";

  private BoxConfig() {}

  /**
   * Writes {@code conf/config.yaml}.
   *
   * @return what was written
   */
  static Configuration write(Layout layout, StartSettings settings) throws IOException {
    Configuration given = read(settings.config());
    Configuration flink = new Configuration(given);
    bindToThisMachine(flink, layout);
    settings.slots().ifPresent(slots -> flink.set(TaskManagerOptions.NUM_TASK_SLOTS, slots));
    settings.port().ifPresent(port -> flink.set(RestOptions.PORT, port));
    for (String override : settings.overrides()) {
      String[] pair = override.split("=", 2);
      if (pair.length < 2 || pair[0].isBlank()) {
        throw BoxException.unusable("-D%s is not of the form -Dkey=value.", override);
      }
      flink.setString(pair[0].strip(), pair[1].strip());
    }
    if (settings.gpus().isPresent()) {
      Gpus.fake(flink, layout, settings.gpus().get());
    }
    int port =
        Ports.require(flink.get(RestOptions.PORT), "the web UI", "choose another with --port N");
    flink.set(RestOptions.PORT, port);
    flink.set(RestOptions.BIND_PORT, Integer.toString(port));
    if (settings.highAvailability()) {
      ZooKeeper.configure(flink, layout, Ports.free());
    }
    save(flink, layout.conf().resolve(GlobalConfiguration.FLINK_CONF_FILENAME));
    return flink;
  }

  /** What the running box was started with. */
  static Configuration of(Layout layout) {
    return GlobalConfiguration.loadConfiguration(layout.conf().toString());
  }

  /** Flink wants a folder with a file of the one name that it knows. */
  private static Configuration read(Path file) throws IOException {
    if (!Files.isRegularFile(file)) {
      throw BoxException.unusable("There is no Flink configuration at %s; see --config.", file);
    }
    Path folder = Files.createTempDirectory("draftmill-box");
    Path copy = folder.resolve(GlobalConfiguration.FLINK_CONF_FILENAME);
    try {
      Files.copy(file, copy);
      return GlobalConfiguration.loadConfiguration(folder.toString());
    } catch (RuntimeException e) {
      throw BoxException.unusable(
          "%s cannot be read as a Flink configuration: %s", file, rootMessage(e));
    } finally {
      Files.deleteIfExists(copy);
      Files.delete(folder);
    }
  }

  private static String rootMessage(Throwable e) {
    Throwable root = e;
    while (root.getCause() != null) {
      root = root.getCause();
    }
    return String.valueOf(root.getMessage());
  }

  private static void bindToThisMachine(Configuration flink, Layout layout) {
    flink.set(JobManagerOptions.ADDRESS, HOST);
    flink.set(JobManagerOptions.BIND_HOST, HOST);
    flink.set(JobManagerOptions.PORT, Ports.free());
    flink.set(RestOptions.ADDRESS, HOST);
    flink.set(RestOptions.BIND_ADDRESS, HOST);
    flink.set(TaskManagerOptions.HOST, HOST);
    flink.set(TaskManagerOptions.BIND_HOST, HOST);
    flink.set(CoreOptions.TMP_DIRS, layout.tmp().toString());
    setDefault(flink, HighAvailabilityOptions.HA_MODE, "NONE");
    setDefault(flink, CheckpointingOptions.SAVEPOINT_DIRECTORY, address(layout.savepoints()));
  }

  /** As Flink reads it, for whom {@code %20} is no space. */
  static String address(Path folder) {
    return new org.apache.flink.core.fs.Path(folder.toUri()).toString();
  }

  private static <T> void setDefault(Configuration flink, ConfigOption<T> option, T value) {
    if (flink.getOptional(option).isEmpty()) {
      flink.set(option, value);
    }
  }

  private static void save(Configuration flink, Path file) throws IOException {
    Map<String, String> sorted = new TreeMap<>(flink.toMap());
    List<String> lines =
        sorted.entrySet().stream()
            .map(entry -> entry.getKey() + ": " + quoted(entry.getValue()))
            .collect(Collectors.toList());
    lines.add(
        0, "# Written by local-cluster.sh start; change its --config or give it -Dkey=value.");
    Files.write(file, lines);
  }

  /** As a YAML scalar that is a string whatever it looks like. */
  private static String quoted(String value) {
    return "'" + value.replace("'", "''") + "'";
  }
}
