package org.draftmill.job.config;

import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.Configuration;
import org.draftmill.compute.InputException;
import org.draftmill.corpus.io.BoundedFile;
import org.draftmill.job.config.FlatYaml.Entry;

/**
 * Reads {@code run.yaml} and the {@code -D key=value} that go before it into a checked {@link
 * Configuration}: every key is known, every value has the type of its option. What is wrong is said
 * with file and line.
 */
public final class RunFile {
  private RunFile() {}

  /**
   * @param overrides {@code key=value} each; {@code key=null} unsets
   */
  public static Configuration read(Path file, List<String> overrides) {
    return parse(file.toString(), content(file), overrides);
  }

  /**
   * @param name the name that errors show
   */
  public static Configuration parse(String name, String yaml, List<String> overrides) {
    Map<String, Entry> entries = new LinkedHashMap<>(FlatYaml.parse(name, yaml));
    for (String override : overrides) {
      int equals = override.indexOf('=');
      if (equals <= 0) {
        throw new InputException(
            "-D " + override + ": expected key=value, for example -D drafter.parallelism=2.");
      }
      String value = override.substring(equals + 1).strip();
      String key = override.substring(0, equals).strip();
      entries.put(key, new Entry(value.equals("null") ? null : value, "-D " + override));
    }
    return check(entries);
  }

  private static String content(Path file) {
    try {
      return BoundedFile.text(file, BoundedFile.SMALL);
    } catch (org.draftmill.corpus.InputException e) {
      throw new InputException(e.getMessage(), e);
    } catch (IOException e) {
      throw new InputException("Cannot read the run file " + file + ": " + e.getMessage(), e);
    }
  }

  private static Configuration check(Map<String, Entry> entries) {
    Configuration configuration = new Configuration();
    entries.forEach(
        (key, given) -> {
          ConfigOption<?> option = KnownOptions.byKey().get(key);
          Entry entry = option != null && !OptionTypes.isList(option) ? given.flat() : given;
          if (option == null && !key.startsWith(KnownOptions.FLINK_PREFIX)) {
            throw unknown(key, entry);
          }
          if (entry.text() == null) {
            return;
          }
          configuration.setString(key, entry.text());
          if (option != null) {
            checkType(configuration, option, entry);
          }
        });
    return configuration;
  }

  private static void checkType(Configuration configuration, ConfigOption<?> option, Entry entry) {
    try {
      configuration.getOptional(option);
    } catch (RuntimeException e) {
      throw new InputException(
          entry.place()
              + ": "
              + option.key()
              + " must be "
              + OptionTypes.describe(option)
              + ", found '"
              + entry.text()
              + "'.",
          e);
    }
  }

  private static InputException unknown(String key, Entry entry) {
    String prefix = key + ".";
    if (KnownOptions.byKey().keySet().stream().anyMatch(known -> known.startsWith(prefix))) {
      return new InputException(
          entry.place() + ": " + key + " is a group of options, it takes no value of its own.");
    }
    String hint =
        NearestName.of(key, KnownOptions.byKey().keySet())
            .map(near -> " Did you mean " + near + "?")
            .orElse(" docs/options.md lists all of them.");
    return new InputException(entry.place() + ": unknown key " + key + "." + hint);
  }
}
