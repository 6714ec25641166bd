package org.draftmill.compute.cuda;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.OptionalLong;
import org.draftmill.compute.InputException;
import org.draftmill.compute.ops.Backend;
import org.draftmill.compute.ops.DeviceClock;
import org.draftmill.compute.ops.ExactSums;
import org.draftmill.compute.ops.Masters;
import org.draftmill.compute.ops.Ops;
import org.draftmill.compute.ops.Workspace;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One GPU. Work is put on a stream and done behind the caller's back; what comes back to the host
 * waits for it. Closing gives back everything, also what workspaces still hold.
 */
public final class CudaBackend implements Backend {
  public static final String NAME = "cuda";

  /** Most values of a head that its attention takes. */
  public static final int LARGEST_HEAD = HeadSize.LARGEST;

  private static final Logger LOG = LoggerFactory.getLogger(CudaBackend.class);

  /** Bytes of a pinned buffer; there are four a backend at most. */
  private static final int STAGING = 4 << 20;

  private final CudaDevice device;
  private final Deque<Part> owned = new ArrayDeque<>(); // last made, first closed
  private final CudaContext context;
  private final DeviceMemory memory;
  private final WorkStream computing;
  private final Launcher launcher;
  private final Transfers transfers;
  private final Transfers copies;
  private final CudaClock encoding;
  private final Scratch scratch;
  private final Multiplier multiplier;
  private final CudaOps ops;

  private CudaBackend(CudaDevice device, MatrixProducts products, int staging) {
    this.device = device;
    try {
      context = own(new CudaContext(device));
      context.use();
      memory = own(new DeviceMemory(context));
      Kernels kernels = own(new Kernels(context));
      computing = own(new WorkStream(context, "compute"));
      WorkStream copying = own(new WorkStream(context, "copy"));
      launcher = new Launcher(context, kernels, computing, true);
      transfers = own(new Transfers(context, memory, launcher, staging));
      Launcher copyLauncher = new Launcher(context, kernels, copying, false);
      copies = own(new Transfers(context, memory, copyLauncher, staging));
      encoding = own(new CudaClock(context, copying));
      scratch = own(new Scratch(memory, transfers));
      multiplier = multiplier(products);
      ops = new CudaOps(launcher, scratch, multiplier);
    } catch (RuntimeException | Error e) {
      RuntimeException more = closing(null, this::close); // a failed context fails again there
      if (more != null) {
        e.addSuppressed(more);
      }
      throw e;
    }
  }

  private <T extends Part> T own(T part) {
    owned.push(part);
    return part;
  }

  private Multiplier multiplier(MatrixProducts wanted) {
    if (wanted == MatrixProducts.OWN) {
      return new OwnProducts(launcher);
    }
    try {
      CublasProducts library = own(CublasProducts.open(context, launcher, scratch));
      LOG.info("{} multiplies matrices by cuBLAS {}.", device, library.version());
      return library;
    } catch (CublasBinding.Unavailable e) {
      if (wanted == MatrixProducts.CUBLAS) {
        throw new InputException(
            "Matrix products by 'cublas' were asked for on %s, but cuBLAS cannot be used: %s. The products 'own' need no library, and 'auto' takes what is there."
                .formatted(device, e.getMessage()));
      }
      LOG.info(
          "{} multiplies matrices by Draftmill's own kernels, for cuBLAS cannot be used: {}.",
          device,
          e.getMessage());
      return new OwnProducts(launcher);
    }
  }

  /**
   * Opens the GPU of this number among those that the driver shows to this process; its products
   * are our own.
   *
   * @throws InputException when there is no driver, no such GPU, or one that is too old
   */
  public static CudaBackend open(int index) {
    return open(index, MatrixProducts.OWN);
  }

  /**
   * The same with a choice of what multiplies matrices.
   *
   * @throws InputException also when {@code products} is {@link MatrixProducts#CUBLAS} and cuBLAS
   *     cannot be used
   */
  public static CudaBackend open(int index, MatrixProducts products) {
    return open(index, products, STAGING);
  }

  /**
   * @param staging bytes of a pinned buffer
   */
  static CudaBackend open(int index, int staging) {
    return open(index, MatrixProducts.OWN, staging);
  }

  private static CudaBackend open(int index, MatrixProducts products, int staging) {
    CudaDriver.start();
    List<CudaDevice> devices = CudaDriver.devices();
    if (index < 0 || index >= devices.size()) {
      throw new InputException(
          "GPU %d was asked for, but this process sees %d: %s. CUDA_VISIBLE_DEVICES says which."
              .formatted(index, devices.size(), devices));
    }
    CudaDevice device = devices.get(index);
    if (!device.covered()) {
      throw new InputException(
          "%s is too old: Draftmill's kernels need compute capability 8.0 (Ampere) or newer. Use the device 'cpu'."
              .formatted(device));
    }
    return new CudaBackend(device, products, staging);
  }

  /** Whether there are a driver and a GPU that this backend runs on. */
  public static boolean usable() {
    return CudaDriver.usable();
  }

  /**
   * Whether there is a driver, and the GPU of this number, if it is there, is one that this backend
   * runs on.
   */
  public static boolean usable(int index) {
    return CudaDriver.usable(index);
  }

  /** Bytes of the smallest GPU that this backend runs on; empty where there is none. */
  public static OptionalLong smallestMemory() {
    return CudaDriver.usable()
        ? CudaDriver.devices().stream()
            .filter(CudaDevice::covered)
            .mapToLong(CudaDevice::memory)
            .min()
        : OptionalLong.empty();
  }

  /** Whether there is a GPU that this backend runs on, and cuBLAS starts on it. */
  public static boolean hasCublas() {
    if (!usable()) {
      return false;
    }
    int index = CudaDriver.devices().stream().filter(CudaDevice::covered).findFirst().get().index();
    try (CudaBackend backend = open(index, MatrixProducts.AUTO)) {
      return !(backend.multiplier instanceof OwnProducts);
    }
  }

  /** The GPU. */
  public CudaDevice device() {
    return device;
  }

  @Override
  public String name() {
    return NAME;
  }

  /**
   * Also the GPU's architecture; with cuBLAS its version and the very kind of GPU, by which it
   * chooses its kernels.
   */
  @Override
  public String arithmetic() {
    return multiplier instanceof OwnProducts
        ? "%s %d, %s".formatted(NAME, device.capability(), multiplier.arithmetic())
        : "%s %d, %s on %s"
            .formatted(NAME, device.capability(), multiplier.arithmetic(), device.name());
  }

  @Override
  public Ops ops() {
    return ops;
  }

  @Override
  public int largestHead() {
    return LARGEST_HEAD;
  }

  @Override
  public Workspace workspace() {
    return new CudaWorkspace(this);
  }

  @Override
  public ExactSums exactSums(int size) {
    return new CudaExactSums(memory, launcher, transfers, scratch, size);
  }

  @Override
  public Masters masters(float[] weights, int from, int to) {
    return new CudaMasters(memory, launcher, transfers, weights, from, to);
  }

  @Override
  public DeviceClock clock() {
    return own(new CudaClock(context, computing));
  }

  @Override
  public double encodingSeconds() {
    return encoding.seconds();
  }

  @Override
  public long bytesHeld() {
    return scratch.bytesHeld();
  }

  DeviceMemory memory() {
    return memory;
  }

  WorkStream computing() {
    return computing;
  }

  Launcher launcher() {
    return launcher;
  }

  /** Between host and device on the computing stream. */
  Transfers transfers() {
    return transfers;
  }

  /** Of {@link #copies}. */
  CudaClock encoding() {
    return encoding;
  }

  /** From the device on the copy stream. */
  Transfers copies() {
    return copies;
  }

  @Override
  public void close() {
    RuntimeException failure = null;
    if (!owned.isEmpty()) {
      failure = closing(failure, context::use);
    }
    while (!owned.isEmpty()) {
      failure = closing(failure, owned.pop());
    }
    if (failure != null) {
      throw failure;
    }
  }

  private static RuntimeException closing(RuntimeException failure, Part part) {
    try {
      part.close();
    } catch (RuntimeException e) {
      if (failure == null) {
        return e;
      }
      failure.addSuppressed(e);
    }
    return failure;
  }

  /** What a backend is made of, closed in reverse. */
  interface Part extends AutoCloseable {
    @Override
    void close();
  }
}
