package org.draftmill.job.config;

import java.lang.reflect.Field;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.MemorySize;

/** Says in words what an option takes; Flink keeps the type of an option to itself. */
final class OptionTypes {
  private OptionTypes() {}

  /** {@code a whole number}, {@code one of seeded, as-ready}, … */
  static String describe(ConfigOption<?> option) {
    Class<?> type = (Class<?>) field(option, "clazz");
    String one = describe(type);
    return isList(option) ? "a list, each " + one : one;
  }

  static boolean isList(ConfigOption<?> option) {
    return (boolean) field(option, "isList");
  }

  private static String describe(Class<?> type) {
    if (type == Integer.class || type == Long.class) {
      return "a whole number";
    } else if (type == Double.class || type == Float.class) {
      return "a number";
    } else if (type == Boolean.class) {
      return "true or false";
    } else if (type == Duration.class) {
      return "a duration such as 30s or 5min";
    } else if (type == MemorySize.class) {
      return "an amount of memory such as 512mb or 64gb";
    } else if (type.isEnum()) {
      return "one of "
          + Arrays.stream(type.getEnumConstants())
              .map(value -> value.toString().toLowerCase(Locale.ROOT))
              .collect(Collectors.joining(", "));
    }
    return "text";
  }

  private static Object field(ConfigOption<?> option, String name) {
    try {
      Field field = ConfigOption.class.getDeclaredField(name);
      field.setAccessible(true);
      return field.get(option);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("Flink's ConfigOption has no field " + name, e);
    }
  }
}
