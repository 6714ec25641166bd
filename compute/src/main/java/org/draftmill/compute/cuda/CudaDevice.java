package org.draftmill.compute.cuda;

import java.util.Locale;

/**
 * A GPU.
 *
 * @param index its number among those that the driver shows to this process
 * @param capability compute capability, 80 for 8.0
 * @param processors streaming multiprocessors
 * @param memory bytes
 */
public record CudaDevice(int index, String name, int capability, int processors, long memory) {
  /** What the kernels need at least: bf16 tensor cores and asynchronous copies. */
  static final int OLDEST = 80;

  boolean covered() {
    return capability >= OLDEST;
  }

  @Override
  public String toString() {
    return String.format(
        Locale.ROOT,
        "GPU %d (%s, compute capability %d.%d, %.1f GiB)",
        index,
        name,
        capability / 10,
        capability % 10,
        memory / (double) (1L << 30));
  }
}
