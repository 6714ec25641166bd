package org.draftmill.compute.cuda;

import jcuda.driver.CUresult;
import jcuda.driver.JCudaDriver;

/**
 * A call of the CUDA driver that failed. After a failed kernel the device answers every call with
 * the same failure until the process ends: whoever owns the backend closes it.
 */
public final class CudaFailure extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final int result;

  CudaFailure(int result, String message) {
    super(message);
    this.result = result;
  }

  /** The driver's {@code CUresult}. */
  public int result() {
    return result;
  }

  /**
   * @param what what was tried, to stand after "CUDA: ", as in "copying 12 bytes to the device"
   */
  static void check(int result, String what) {
    if (result != CUresult.CUDA_SUCCESS) {
      throw of(result, what);
    }
  }

  static CudaFailure of(int result, String what) {
    return new CudaFailure(result, "CUDA: %s failed: %s.".formatted(what, explain(result)));
  }

  /** Name, meaning and number of a result. */
  static String explain(int result) {
    String[] name = {null};
    String[] meaning = {null};
    JCudaDriver.cuGetErrorName(result, name);
    JCudaDriver.cuGetErrorString(result, meaning);
    return "%s (%d): %s".formatted(name[0], result, meaning[0]);
  }
}
