package org.draftmill.compute.cuda;

import static org.draftmill.compute.cuda.CudaFailure.check;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import jcuda.Pointer;
import jcuda.driver.CUresult;
import jcuda.driver.JCudaDriver;

/**
 * The one way to start a kernel on a stream. Arguments go in the order of the kernel's parameters:
 * a {@link DeviceValue} or {@code null} for a pointer, {@code Integer} for {@code int}, {@code
 * Long} for {@code long long} or the address of unowned memory, {@code Float} for {@code float},
 * {@code Double} for {@code double}. A thread has a launcher of its own.
 */
final class Launcher {
  private static final int MOST_BYTES = 4096;

  private final CudaContext context;
  private final Kernels kernels;
  private final WorkStream stream;
  private final boolean notes;
  private final ByteBuffer arguments =
      ByteBuffer.allocateDirect(MOST_BYTES).order(ByteOrder.nativeOrder());
  private final ByteBuffer size =
      ByteBuffer.allocateDirect(Long.BYTES).order(ByteOrder.nativeOrder());
  private final Pointer packed =
      Pointer.to(
          JCudaDriver.CU_LAUNCH_PARAM_BUFFER_POINTER,
          Pointer.to(arguments),
          JCudaDriver.CU_LAUNCH_PARAM_BUFFER_SIZE,
          Pointer.to(size),
          JCudaDriver.CU_LAUNCH_PARAM_END);

  /**
   * @param notes whether pieces remember launches on this stream as their last use
   */
  Launcher(CudaContext context, Kernels kernels, WorkStream stream, boolean notes) {
    this.context = context;
    this.kernels = kernels;
    this.stream = stream;
    this.notes = notes;
  }

  /** Starts kernel {@code name} of {@code family.cu}; an empty grid does nothing. */
  void launch(String family, String name, Grid grid, Object... parameters) {
    if (grid.isEmpty()) {
      return;
    }
    context.use();
    Kernels.Kernel kernel = kernels.get(family, name, grid.shared());
    pack(kernel, parameters);
    int result =
        JCudaDriver.cuLaunchKernel(
            kernel.function(),
            grid.x(),
            grid.y(),
            grid.z(),
            grid.threads(),
            1,
            1,
            grid.shared(),
            stream.handle(),
            null,
            packed);
    if (result != CUresult.CUDA_SUCCESS) {
      throw CudaFailure.of(result, "kernel " + kernel + " on " + grid + " on the stream " + stream);
    }
    if (notes) {
      noteUse(parameters);
    }
  }

  private void pack(Kernels.Kernel kernel, Object[] parameters) {
    arguments.clear();
    for (Object parameter : parameters) {
      if (parameter == null) {
        align(Long.BYTES).putLong(0);
      } else if (parameter instanceof DeviceValue value) {
        align(Long.BYTES).putLong(value.address());
      } else if (parameter instanceof Long value) {
        align(Long.BYTES).putLong(value);
      } else if (parameter instanceof Integer value) {
        arguments.putInt(value);
      } else if (parameter instanceof Float value) {
        arguments.putFloat(value);
      } else if (parameter instanceof Double value) {
        align(Double.BYTES).putDouble(value);
      } else {
        throw new IllegalArgumentException(
            "kernel " + kernel + " cannot take a " + parameter.getClass().getName());
      }
    }
    size.putLong(0, arguments.position());
  }

  private ByteBuffer align(int bytes) {
    return arguments.position((arguments.position() + bytes - 1) / bytes * bytes);
  }

  /** Notes a piece of work on the stream, as the last use of what it takes. */
  void noteUse(Object... parameters) {
    long work = stream.note();
    for (Object parameter : parameters) {
      if (parameter instanceof DeviceValue value) {
        value.piece().usedBy(work);
      }
    }
  }

  /** Fills {@code bytes} bytes, a multiple of four, with zeros. */
  void zero(DeviceValue value, long bytes) {
    if (bytes == 0) {
      return;
    }
    context.use();
    check(
        JCudaDriver.cuMemsetD32Async(
            new DeviceAddress(value.address()), 0, bytes / Integer.BYTES, stream.handle()),
        "filling " + bytes + " bytes with zeros on the stream " + stream);
    value.piece().usedBy(stream.note());
  }

  CudaContext context() {
    return context;
  }

  WorkStream stream() {
    return stream;
  }
}
