package org.draftmill.operators.gpu;

import java.util.List;
import java.util.Optional;
import org.draftmill.compute.InputException;

/**
 * The device that one subtask computes on, until it is closed.
 *
 * <p>Flink tells a subtask all GPUs of its process, not the one that its slot asked for, so
 * subtasks of a process share them out here: each takes the first free one, also when they belong
 * to different jobs. A lease is closed after everything that computes there: with the task, however
 * it ends.
 */
public final class DeviceLease implements AutoCloseable {
  /** A GPU if there is one, else the host. */
  public static final String AUTO = "auto";

  /** A GPU. */
  public static final String CUDA = "cuda";

  /** Values that the options {@code target.device} and {@code drafter.device} may have. */
  public static final List<String> DEVICES = List.of(AUTO, CUDA, "cpu", "reference");

  private final String device;
  private final String holder;
  private volatile String gpu; // null without one, and once closed

  private DeviceLease(String device, String holder, String gpu) {
    this.device = device;
    this.holder = holder;
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

  /** Whether a subtask with this device leases a GPU, where there are any. */
  public static boolean mayTakeGpu(String device) {
    return device.equals(AUTO) || device.equals(CUDA);
  }

  /**
   * Takes a device.
   *
   * @param device one of {@link #DEVICES}
   * @throws InputException if the device is unknown, or {@code cuda} where there is no GPU
   * @throws IllegalStateException if all GPUs of the process are leased
   */
  public static DeviceLease take(String device, GpuClaim claim) {
    requireKnown("The device", device);
    if (!mayTakeGpu(device) || device.equals(AUTO) && claim.gpus().isEmpty()) {
      return new DeviceLease(device, claim.holder(), null);
    }
    if (claim.gpus().isEmpty()) {
      throw new InputException(
          "The device is cuda, but this process has no GPU: list '%s' in external-resources and set %s in Flink's options, or take another device."
              .formatted(GpuResource.NAME, GpuResource.AMOUNT.key()));
    }
    return new DeviceLease(device, claim.holder(), free(claim));
  }

  private static String free(GpuClaim claim) {
    return LeasedGpus.take(claim)
        .orElseThrow(
            () ->
                new IllegalStateException(
                    "All %d GPUs of this process are taken (%s): more targets and drafters run here than it has GPUs. Flink counts them when 'gpu' is in external-resources where the job is submitted, too."
                        .formatted(claim.gpus().size(), LeasedGpus.describe(claim.gpus()))));
  }

  /** What was asked for, one of {@link #DEVICES}. */
  public String device() {
    return device;
  }

  /** Index of the leased GPU. */
  public Optional<String> gpu() {
    return Optional.ofNullable(gpu);
  }

  @Override
  public void close() {
    if (gpu != null) {
      LeasedGpus.giveBack(gpu, holder);
      gpu = null;
    }
  }
}
