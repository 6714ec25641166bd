package org.draftmill.job.config;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.util.TimeUtils;
import org.draftmill.compute.io.AtomicFile;
import org.snakeyaml.engine.v2.api.Dump;
import org.snakeyaml.engine.v2.api.DumpSettings;
import org.snakeyaml.engine.v2.common.FlowStyle;

/** Writes a configuration with every default filled in, as a run file that gives the same run. */
public final class ResolvedRunFile {
  private ResolvedRunFile() {}

  /** All known options and the {@code flink.*} keys as nested YAML, in documentation order. */
  public static String render(Configuration configuration) {
    Map<String, Object> root = new LinkedHashMap<>();
    for (ConfigOption<?> option : KnownOptions.byKey().values()) {
      put(root, option.key(), plain(configuration.get(option)));
    }
    for (String key : new TreeSet<>(configuration.keySet())) {
      if (key.startsWith(KnownOptions.FLINK_PREFIX)) {
        // Flink's keys may be groups and values at once: they stay flat below their own group.
        group(root, "flink")
            .put(
                key.substring(KnownOptions.FLINK_PREFIX.length()),
                configuration.getString(key, ""));
      }
    }
    DumpSettings settings =
        DumpSettings.builder().setDefaultFlowStyle(FlowStyle.BLOCK).setWidth(120).build();
    return new Dump(settings).dumpToString(root);
  }

  /** Writes it, all of it or nothing. */
  public static void write(Path file, Configuration configuration) throws IOException {
    AtomicFile.write(file, render(configuration).getBytes(StandardCharsets.UTF_8));
  }

  private static void put(Map<String, Object> root, String key, Object value) {
    String[] path = key.split("\\.");
    Map<String, Object> group = root;
    for (int i = 0; i < path.length - 1; i++) {
      group = group(group, path[i]);
    }
    group.put(path[path.length - 1], value);
  }

  @SuppressWarnings("unchecked")
  private static Map<String, Object> group(Map<String, Object> parent, String name) {
    return (Map<String, Object>) parent.computeIfAbsent(name, k -> new LinkedHashMap<>());
  }

  static Object plain(Object value) {
    if (value instanceof Duration duration) {
      return TimeUtils.formatWithHighestUnit(duration).replace(" ", "");
    } else if (value instanceof List<?> list) {
      return list.stream().map(ResolvedRunFile::plain).toList();
    } else if (value == null
        || value instanceof Integer
        || value instanceof Long
        || value instanceof Boolean
        || value instanceof Double
        || value instanceof Float) {
      return value;
    } else if (value instanceof Enum<?>) {
      return value.toString().toLowerCase(Locale.ROOT);
    }
    return value.toString();
  }
}
