package org.draftmill.operators.gpu;

import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.stream.IntStream;
import org.apache.flink.api.common.TaskInfo;
import org.apache.flink.api.common.externalresource.ExternalResourceInfo;
import org.apache.flink.streaming.api.operators.StreamingRuntimeContext;

/**
 * Who asks for a GPU, and among which.
 *
 * @param holder name of the subtask, different for every attempt
 * @param gpus indices of all GPUs of the process, in order
 */
public record GpuClaim(String holder, List<String> gpus) {
  public GpuClaim {
    gpus = List.copyOf(gpus);
  }

  /**
   * The claim of a running subtask. Where Flink's GPU plugin tells the devices, these are they.
   * Where there is none, as in an embedded Flink, the first ones up to the amount that the options
   * state.
   */
  public static GpuClaim of(StreamingRuntimeContext context) {
    TaskInfo task = context.getTaskInfo();
    String holder =
        "%s of '%s', attempt %d, %s"
            .formatted(
                task.getTaskNameWithSubtasks(),
                context.getJobInfo().getJobName(),
                task.getAttemptNumber(),
                UUID.randomUUID());
    Set<ExternalResourceInfo> devices = context.getExternalResourceInfos(GpuResource.NAME);
    if (!devices.isEmpty()) {
      return new GpuClaim(holder, devices.stream().map(GpuClaim::index).sorted(ORDER).toList());
    }
    int amount = GpuResource.perTaskManager(context.getTaskManagerRuntimeInfo().getConfiguration());
    return new GpuClaim(holder, IntStream.range(0, amount).mapToObj(String::valueOf).toList());
  }

  private static String index(ExternalResourceInfo device) {
    return device
        .getProperty(GpuResource.INDEX)
        .orElseThrow(
            () ->
                new IllegalStateException(
                    "The external resource '%s' has a device without the property '%s' (it has %s): its driver must be Flink's GPU plugin."
                        .formatted(GpuResource.NAME, GpuResource.INDEX, device.getKeys())));
  }

  /** 2 before 10. */
  private static final Comparator<String> ORDER =
      Comparator.comparingInt(String::length).thenComparing(Comparator.naturalOrder());
}
