package org.draftmill.job.config;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.configuration.ConfigOption;
import org.draftmill.operators.drafter.DrafterOptions;
import org.draftmill.operators.jobs.JobsOptions;
import org.draftmill.operators.pool.PoolOptions;
import org.draftmill.operators.target.TargetOptions;

/** Every option that a run file may hold, in the order of the documentation. */
public final class KnownOptions {

  /** Keys below this group are handed to Flink without it: {@code flink.rest.port}. */
  public static final String FLINK_PREFIX = "flink.";

  private static final List<Class<?>> HOLDERS =
      List.of(
          RunOptions.class,
          TargetOptions.class,
          JobsOptions.class,
          PoolOptions.class,
          DrafterOptions.class,
          CheckpointOptions.class);

  private static final Map<String, ConfigOption<?>> BY_KEY = collect();

  private KnownOptions() {}

  /** The classes that declare the options, one per group or component. */
  public static List<Class<?>> holders() {
    return HOLDERS;
  }

  /** All options by key, in order. */
  public static Map<String, ConfigOption<?>> byKey() {
    return BY_KEY;
  }

  /** The options that a class declares, in order. */
  public static List<ConfigOption<?>> declaredBy(Class<?> holder) {
    List<ConfigOption<?>> options = new ArrayList<>();
    for (Field field : holder.getDeclaredFields()) {
      if (Modifier.isStatic(field.getModifiers())
          && Modifier.isPublic(field.getModifiers())
          && field.getType() == ConfigOption.class) {
        options.add(read(field));
      }
    }
    return options;
  }

  private static ConfigOption<?> read(Field field) {
    try {
      return (ConfigOption<?>) field.get(null);
    } catch (IllegalAccessException e) {
      throw new IllegalStateException("Cannot read " + field, e);
    }
  }

  private static Map<String, ConfigOption<?>> collect() {
    Map<String, ConfigOption<?>> options = new LinkedHashMap<>();
    for (Class<?> holder : HOLDERS) {
      for (ConfigOption<?> option : declaredBy(holder)) {
        if (options.putIfAbsent(option.key(), option) != null) {
          throw new IllegalStateException("Two options have the key " + option.key());
        }
      }
    }
    return Collections.unmodifiableMap(options);
  }
}
