package org.draftmill.benchmarks;

import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUresult;
import jcuda.driver.CUstream;
import jcuda.driver.CUstream_flags;
import jcuda.driver.JCudaDriver;

/**
 * How fast the driver copies within a device's memory: what kernels that move bytes are held to.
 */
final class DeviceCopy {
  private static final int ROUNDS = 10;

  private DeviceCopy() {}

  /** Bytes read and written a second, on the device whose context is the calling thread's. */
  static double rate(long bytes) {
    CUdeviceptr from = new CUdeviceptr();
    CUdeviceptr to = new CUdeviceptr();
    CUstream stream = new CUstream();
    check(JCudaDriver.cuMemAlloc(from, bytes));
    check(JCudaDriver.cuMemAlloc(to, bytes));
    check(JCudaDriver.cuStreamCreate(stream, CUstream_flags.CU_STREAM_NON_BLOCKING));
    try {
      check(JCudaDriver.cuMemsetD8Async(from, (byte) 1, bytes, stream));
      double best = Double.POSITIVE_INFINITY;
      for (int round = 0; round < 3; round++) {
        check(JCudaDriver.cuStreamSynchronize(stream));
        long start = System.nanoTime();
        for (int i = 0; i < ROUNDS; i++) {
          check(JCudaDriver.cuMemcpyDtoDAsync(to, from, bytes, stream));
        }
        check(JCudaDriver.cuStreamSynchronize(stream));
        best = Math.min(best, (System.nanoTime() - start) * 1e-9 / ROUNDS);
      }
      return 2 * bytes / best;
    } finally {
      JCudaDriver.cuStreamDestroy(stream);
      JCudaDriver.cuMemFree(from);
      JCudaDriver.cuMemFree(to);
    }
  }

  private static void check(int result) {
    if (result != CUresult.CUDA_SUCCESS) {
      throw new IllegalStateException("CUDA: copying failed: " + CUresult.stringFor(result));
    }
  }
}
