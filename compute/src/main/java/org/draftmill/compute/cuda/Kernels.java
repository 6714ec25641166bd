package org.draftmill.compute.cuda;

import static org.draftmill.compute.cuda.CudaFailure.check;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import jcuda.driver.CUfunction;
import jcuda.driver.CUfunction_attribute;
import jcuda.driver.CUmodule;
import jcuda.driver.CUresult;
import jcuda.driver.JCudaDriver;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The compiled kernels on one device. A family ({@code elementwise.cu}) is loaded when its first
 * kernel is asked for: the binary made for this architecture, or PTX for the driver to compile when
 * there is none or the driver does not take it.
 */
final class Kernels implements CudaBackend.Part {
  private static final Logger LOG = LoggerFactory.getLogger(Kernels.class);
  private static final String FOLDER = "/kernels/compiled/";

  /**
   * Architectures that binaries are shipped for, newest first; one serves later ones of its ten.
   */
  private static final int[] ARCHITECTURES = {120, 100, 90, 89, 80};

  /** Static and dynamic shared memory of a block without asking for more. */
  private static final int USUAL_SHARED = 48 << 10;

  /** A kernel, ready to be launched. */
  record Kernel(String family, String name, CUfunction function) {
    @Override
    public String toString() {
      return family + "." + name;
    }
  }

  private final CudaContext context;
  private final Map<String, CUmodule> modules = new HashMap<>();
  private final Map<String, Kernel> kernels = new HashMap<>();
  private final Map<String, Integer> allowed = new HashMap<>(); // dynamic shared memory, bytes

  Kernels(CudaContext context) {
    this.context = context;
  }

  /**
   * The kernel {@code name} of {@code family.cu}.
   *
   * @param shared bytes of dynamic shared memory that the launch asks for
   */
  synchronized Kernel get(String family, String name, int shared) {
    Kernel kernel = kernels.computeIfAbsent(name, n -> find(family, n));
    if (shared > allowed.getOrDefault(name, USUAL_SHARED)) {
      check(
          JCudaDriver.cuFuncSetAttribute(
              kernel.function,
              CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
              shared),
          "allowing kernel " + kernel + " " + shared + " bytes of shared memory");
      allowed.put(name, shared);
    }
    return kernel;
  }

  private Kernel find(String family, String name) {
    context.use();
    CUmodule module = modules.computeIfAbsent(family, this::load);
    CUfunction function = new CUfunction();
    check(
        JCudaDriver.cuModuleGetFunction(function, module, name),
        "finding kernel " + name + " of " + family + ".cu");
    return new Kernel(family, name, function);
  }

  private CUmodule load(String family) {
    int last = CUresult.CUDA_SUCCESS;
    for (String file : images(family, context.device().capability())) {
      CUmodule module = new CUmodule();
      last = JCudaDriver.cuModuleLoadData(module, read(file));
      if (last == CUresult.CUDA_SUCCESS) {
        return module;
      }
      LOG.debug("{} was not taken by the driver: {}", file, CudaFailure.explain(last));
    }
    throw CudaFailure.of(
        last,
        "loading the kernels of "
            + family
            + " on "
            + context.device()
            + "; a driver of R525 or newer takes them, the newest GPUs want a newer one. This");
  }

  /** The files to try for a device, best first. */
  static List<String> images(String family, int capability) {
    List<String> files = new ArrayList<>();
    IntStream.of(ARCHITECTURES)
        .filter(a -> a / 10 == capability / 10 && a <= capability)
        .forEach(a -> files.add(family + ".sm_" + a + ".cubin"));
    files.add(family + ".ptx");
    return files;
  }

  private static byte[] read(String file) {
    try (InputStream in = Kernels.class.getResourceAsStream(FOLDER + file)) {
      if (in == null) {
        throw new IllegalStateException(
            "the artifact lacks " + FOLDER + file + ": run compute/kernels.sh");
      }
      byte[] bytes = in.readAllBytes();
      return Arrays.copyOf(bytes, bytes.length + 1); // PTX ends with a zero
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + FOLDER + file, e);
    }
  }

  @Override
  public void close() {
    modules.values().forEach(JCudaDriver::cuModuleUnload);
    modules.clear();
    kernels.clear();
  }
}
