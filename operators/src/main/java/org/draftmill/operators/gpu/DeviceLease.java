package org.draftmill.operators.gpu;

import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.apache.flink.api.common.externalresource.ExternalResourceInfo;
import org.draftmill.compute.InputException;

/**
 * The device that one subtask computes on, until it is closed.
 *
 * <p>Flink tells a subtask all GPUs of its process (external resource {@value #RESOURCE}), not the
 * one that its slot asked for, so subtasks of a process share them out here: each takes the free
 * one that comes first. The backends of this build compute on the host; a leased GPU keeps its slot
 * and is otherwise idle.
 */
public final class DeviceLease implements AutoCloseable {
  /** Name of the external resource whose devices are leased. */
  public static final String RESOURCE = "gpu";

  /** Values that the options {@code target.device} and {@code drafter.device} may have. */
  public static final List<String> DEVICES = List.of("auto", "cpu", "reference");

  private static final String INDEX = "index"; // property that Flink's GPU driver sets

  /** GPUs of this process that are leased; subtasks of one process have nothing else in common. */
  private static final Set<String> LEASED = new HashSet<>();

  private final String backend;
  private volatile String gpu; // null without one, and once closed

  private DeviceLease(String backend, String gpu) {
    this.backend = backend;
    this.gpu = gpu;
  }

  /**
   * The same name.
   *
   * @param option whose value it is, for the message
   * @throws InputException if there is no such device
   */
  public static String requireKnown(String option, String device) {
    if (!DEVICES.contains(device)) {
      throw new InputException(
          "%s is '%s'; known are %s.".formatted(option, device, String.join(", ", DEVICES)));
    }
    return device;
  }

  /**
   * Takes a device.
   *
   * @param device one of {@link #DEVICES}; a GPU is leased for {@code auto} alone
   * @param gpus what {@code getExternalResourceInfos} of the runtime context gave; may be empty
   * @throws InputException if the device is unknown
   * @throws IllegalStateException if more subtasks run in this process than it has GPUs
   */
  public static DeviceLease take(String device, Collection<ExternalResourceInfo> gpus) {
    requireKnown("The device", device);
    return new DeviceLease(device, device.equals("auto") && !gpus.isEmpty() ? free(gpus) : null);
  }

  private static String free(Collection<ExternalResourceInfo> gpus) {
    List<String> indices =
        gpus.stream().map(gpu -> gpu.getProperty(INDEX).orElse("0")).sorted().toList();
    synchronized (LEASED) {
      for (String index : indices) {
        if (LEASED.add(index)) {
          return index;
        }
      }
    }
    throw new IllegalStateException(
        "All %d GPUs of this process are taken: it has more targets and drafters than GPUs."
            .formatted(indices.size()));
  }

  /** Name of the backend to open, see {@link org.draftmill.compute.Backends}. */
  public String backend() {
    return backend;
  }

  /** Index of the leased GPU. */
  public Optional<String> gpu() {
    return Optional.ofNullable(gpu);
  }

  @Override
  public void close() {
    if (gpu != null) {
      synchronized (LEASED) {
        LEASED.remove(gpu);
      }
      gpu = null;
    }
  }
}
