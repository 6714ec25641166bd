package org.draftmill.operators.gpu;

import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.ExternalResourceOptions;
import org.apache.flink.configuration.ReadableConfig;

/** The external resource by which Flink counts GPUs. */
public final class GpuResource {
  /** Its name, in Flink's options and in the requests of slots. */
  public static final String NAME = "gpu";

  /** GPUs of a TaskManager. */
  public static final ConfigOption<Long> AMOUNT =
      ConfigOptions.key(ExternalResourceOptions.getAmountConfigOptionForResource(NAME))
          .longType()
          .defaultValue(0L)
          .withDescription("GPUs of a TaskManager.");

  /** Property of a device that Flink's GPU plugin sets: its index on the machine. */
  static final String INDEX = "index";

  private GpuResource() {}

  /** GPUs that a TaskManager with these options has; zero if it does not name the resource. */
  public static int perTaskManager(ReadableConfig flink) {
    boolean named =
        flink
            .getOptional(ExternalResourceOptions.EXTERNAL_RESOURCE_LIST)
            .filter(names -> names.contains(NAME))
            .isPresent();
    return named ? Math.toIntExact(flink.get(AMOUNT)) : 0;
  }
}
