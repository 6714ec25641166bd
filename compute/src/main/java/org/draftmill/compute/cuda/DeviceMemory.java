package org.draftmill.compute.cuda;

import static org.draftmill.compute.cuda.CudaFailure.check;

import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import jcuda.driver.CUresult;
import jcuda.driver.JCudaDriver;
import org.draftmill.compute.InputException;

/** The device memory of one backend: every allocation is made, counted and given back here. */
final class DeviceMemory implements CudaBackend.Part {
  private final CudaContext context;
  private final Set<Long> held = new HashSet<>();

  DeviceMemory(CudaContext context) {
    this.context = context;
  }

  /**
   * New memory of any content, aligned to 256 bytes at least.
   *
   * @throws InputException when the device has too little, with what would help
   */
  synchronized long allocate(long bytes) {
    context.use();
    DeviceAddress address = new DeviceAddress();
    int result = JCudaDriver.cuMemAlloc(address, bytes);
    if (result == CUresult.CUDA_ERROR_OUT_OF_MEMORY) {
      throw new InputException(
          "%s has too little memory: %s more were asked for, %s of %s are free. For a target plan with a smaller jobs.token-budget or take fewer layers in target.taps; for a drafter lower drafter.anchors or drafter.layers; or see who else uses this GPU."
              .formatted(context.device(), size(bytes), size(free()), size(total())));
    }
    check(result, "allocating " + size(bytes));
    held.add(address.value());
    return address.value();
  }

  synchronized void free(long address) {
    if (held.remove(address)) {
      context.use();
      check(JCudaDriver.cuMemFree(new DeviceAddress(address)), "freeing memory");
    }
  }

  /** Bytes that nobody holds on the device, in this process or another. */
  long free() {
    return info()[0];
  }

  private long total() {
    return info()[1];
  }

  private long[] info() {
    long[] free = {0};
    long[] total = {0};
    check(JCudaDriver.cuMemGetInfo(free, total), "asking for free memory");
    return new long[] {free[0], total[0]};
  }

  private static String size(long bytes) {
    return bytes < 1L << 20
        ? bytes + " bytes"
        : String.format(Locale.ROOT, "%.1f MiB", bytes / (double) (1L << 20));
  }

  /** Gives back what workspaces have left behind. */
  @Override
  public synchronized void close() {
    for (long address : held) {
      JCudaDriver.cuMemFree(new DeviceAddress(address));
    }
    held.clear();
  }
}
