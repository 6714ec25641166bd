package org.draftmill.compute;

import org.draftmill.compute.cpu.CpuBackend;
import org.draftmill.compute.cuda.CudaBackend;
import org.draftmill.compute.cuda.MatrixProducts;
import org.draftmill.compute.ops.Backend;
import org.draftmill.compute.reference.ReferenceBackend;

/** Makes a backend by its name: the module's front door, the one place that knows them all. */
public final class Backends {
  private static final int MOST_THREADS = 4096;

  private Backends() {}

  /** Opens a backend; {@code cuda} takes the first GPU. */
  public static Backend open(String name, int threads) {
    return open(name, threads, 0);
  }

  /** The same with matrix products of our own on a GPU. */
  public static Backend open(String name, int threads, int gpu) {
    return open(name, threads, gpu, MatrixProducts.OWN);
  }

  /**
   * Opens {@code reference}, {@code cpu}, {@code cuda}, or with {@code auto} the fastest one that
   * this machine has.
   *
   * @param threads how many threads the backend may use, its caller included; {@code cuda} needs
   *     none
   * @param gpu which GPU {@code cuda} takes, counted among those that the driver shows to this
   *     process
   * @param products what multiplies matrices on a GPU
   * @throws InputException when the name is unknown, {@code threads} is less than one or more than
   *     any machine has cores, or there is no such GPU or no cuBLAS where it is demanded
   */
  public static Backend open(String name, int threads, int gpu, MatrixProducts products) {
    if (threads < 1) {
      throw new InputException("A backend needs at least one thread, found " + threads + ".");
    }
    if (threads > MOST_THREADS) {
      throw new InputException(
          "A backend takes at most %d threads, found %d.".formatted(MOST_THREADS, threads));
    }
    return switch (name) {
      case ReferenceBackend.NAME -> new ReferenceBackend();
      case CpuBackend.NAME -> new CpuBackend(threads);
      case CudaBackend.NAME -> CudaBackend.open(gpu, products);
      case "auto" ->
          CudaBackend.usable(gpu) ? CudaBackend.open(gpu, products) : new CpuBackend(threads);
      default ->
          throw new InputException(
              "Unknown device '" + name + "'; known are reference, cpu, cuda and auto.");
    };
  }
}
