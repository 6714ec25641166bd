package org.draftmill.job.flinkconf;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.jar.JarFile;
import java.util.regex.Pattern;
import org.apache.flink.annotation.docs.Documentation;
import org.apache.flink.client.cli.CliFrontend;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.kubernetes.configuration.KubernetesConfigOptions;
import org.apache.flink.metrics.prometheus.PrometheusReporterFactory;
import org.apache.flink.runtime.jobgraph.JobGraph;

/** Every key that Flink's classes declare as an option, gathered from them. */
final class FlinkKeys {
  private static final Pattern HOLDER =
      Pattern.compile("org/apache/flink/[a-zA-Z0-9/]*Options(Internal)?\\.class");

  /**
   * Declared without the name before them, by Flink on Kubernetes and by plugins: the GPU plugin,
   * which is loaded from a folder of Flink and never from a class path, and the Prometheus
   * reporter.
   */
  private static final List<String> OF_PLUGINS =
      List.of(
          "external-resource.<resource_name>.param.discovery-script.path",
          "external-resource.<resource_name>.param.discovery-script.args",
          "external-resource.<resource_name>.kubernetes.config-key",
          "metrics.reporter.<name>.port");

  private final Map<String, ConfigOption<?>> exact = new LinkedHashMap<>();
  private final Map<Pattern, ConfigOption<?>> named = new LinkedHashMap<>();

  private FlinkKeys() {}

  static FlinkKeys gather() {
    FlinkKeys keys = new FlinkKeys();
    List.of(
            Configuration.class,
            JobGraph.class,
            CliFrontend.class,
            KubernetesConfigOptions.class,
            PrometheusReporterFactory.class)
        .forEach(keys::gatherFromJarOf);
    for (String key : OF_PLUGINS) {
      keys.named.put(pattern("", key), ConfigOptions.key(key).stringType().noDefaultValue());
    }
    return keys;
  }

  /** The option with this key, also if a part of the key is a name that the user chose. */
  Optional<ConfigOption<?>> find(String key) {
    return Optional.<ConfigOption<?>>ofNullable(exact.get(key))
        .or(
            () ->
                named.entrySet().stream()
                    .filter(entry -> entry.getKey().matcher(key).matches())
                    .<ConfigOption<?>>map(Map.Entry::getValue)
                    .findFirst());
  }

  int size() {
    return exact.size() + named.size();
  }

  private void gatherFromJarOf(Class<?> type) {
    try {
      Path jar = Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
      List<String> holders = new ArrayList<>();
      try (JarFile file = new JarFile(jar.toFile())) {
        file.stream()
            .map(entry -> entry.getName())
            .filter(name -> HOLDER.matcher(name).matches())
            .forEach(holders::add);
      }
      for (String holder : holders) {
        gatherFrom(Class.forName(holder.replace(".class", "").replace('/', '.')));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (URISyntaxException | ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  private void gatherFrom(Class<?> holder) throws IllegalAccessException {
    Documentation.SuffixOption ofAll = holder.getAnnotation(Documentation.SuffixOption.class);
    for (Field field : holder.getDeclaredFields()) {
      if (field.getType() != ConfigOption.class || !Modifier.isStatic(field.getModifiers())) {
        continue;
      }
      field.setAccessible(true);
      ConfigOption<?> option = (ConfigOption<?>) field.get(null);
      Documentation.SuffixOption own = field.getAnnotation(Documentation.SuffixOption.class);
      Documentation.SuffixOption suffix = own == null ? ofAll : own;
      if (option.key().endsWith(">")) {
        continue; // stands for whatever a plugin may read: it would let any mistake pass
      }
      if (suffix != null) {
        named.put(pattern(suffix.value(), option.key()), option);
      } else if (option.key().contains("<")) {
        named.put(pattern("", option.key()), option);
      } else {
        exact.put(option.key(), option);
      }
    }
  }

  /** Of a key with names in angle brackets: {@code metrics.reporter.<name>.interval}. */
  private static Pattern pattern(String prefix, String key) {
    String whole = prefix.isEmpty() || key.startsWith(prefix) ? key : prefix + "." + key;
    return Pattern.compile(Pattern.quote(whole).replaceAll("<[^<>]+>", "\\\\E[a-zA-Z0-9_-]+\\\\Q"));
  }
}
