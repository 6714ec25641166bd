package org.draftmill.operators.gpu;

import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.draftmill.compute.Backends;
import org.draftmill.compute.InputException;
import org.draftmill.compute.cpu.CpuBackend;
import org.draftmill.compute.cuda.CudaBackend;
import org.draftmill.compute.cuda.MatrixProducts;
import org.draftmill.compute.ops.Backend;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Where a lease becomes a backend: the one place that knows what computes on a leased GPU. */
public final class LeasedBackend {
  private static final Logger LOG = LoggerFactory.getLogger(LeasedBackend.class);

  private static final AtomicBoolean WARNED = new AtomicBoolean();

  private LeasedBackend() {}

  /**
   * Opens the backend of a device. {@code auto} computes on the leased GPU; where there is none, or
   * none that can be computed on, on the host, and says so once.
   *
   * @param threads of a host backend
   * @param products what multiplies matrices on a GPU
   * @throws InputException if the device is {@code cuda} and cannot be computed on, or the products
   *     are {@code cublas} and it is not there
   */
  public static Backend open(DeviceLease lease, int threads, MatrixProducts products) {
    return switch (lease.device()) {
      case DeviceLease.AUTO -> automatic(lease, threads, products);
      case DeviceLease.CUDA -> onGpu(lease.gpu().orElseThrow(), threads, products);
      default -> Backends.open(lease.device(), threads);
    };
  }

  private static Backend automatic(DeviceLease lease, int threads, MatrixProducts products) {
    Optional<String> gpu = lease.gpu();
    if (gpu.isPresent() && CudaBackend.usable(Integer.parseInt(gpu.get()))) {
      return onGpu(gpu.get(), threads, products);
    }
    if (WARNED.compareAndSet(false, true)) {
      LOG.warn(
          "{}: computing on the CPU.",
          gpu.map(index -> "GPU " + index + " is leased, but CUDA cannot compute on it")
              .orElse("This process has no GPU to lease"));
    }
    return Backends.open(CpuBackend.NAME, threads);
  }

  /**
   * @param index as Flink's discovery script lists it: that of nvidia-smi, which the driver shares
   *     when it counts in the order of the buses
   */
  private static Backend onGpu(String index, int threads, MatrixProducts products) {
    return Backends.open(CudaBackend.NAME, threads, Integer.parseInt(index), products);
  }
}
