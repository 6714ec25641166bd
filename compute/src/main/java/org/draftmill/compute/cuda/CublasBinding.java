package org.draftmill.compute.cuda;

/** JCuda's native library for cuBLAS, loaded at first use; a failure is remembered. */
final class CublasBinding {
  private static final Throwable FAILURE = NativeBinding.load("jcuda.jcublas.JCublas2");

  private CublasBinding() {}

  /** That there is no cuBLAS to use; the message is the reason. */
  static final class Unavailable extends Exception {
    private static final long serialVersionUID = 1L;

    Unavailable(String reason) {
      super(reason);
    }
  }

  static void require() throws Unavailable {
    if (FAILURE != null) {
      throw new Unavailable(reason(FAILURE));
    }
  }

  static String reason(Throwable failure) {
    if (String.valueOf(failure.getMessage()).contains("libcublas.so.12")) {
      return "libcublas.so.12 was not found; it comes with the CUDA 12 toolkit, or as the Python"
          + " package nvidia-cublas-cu12, and its folder belongs on LD_LIBRARY_PATH";
    }
    return "the native part of JCublas2 does not load; on a cluster jcublas and jcublas-natives"
        + " belong into Flink's lib/, beside jcuda: "
        + failure;
  }
}
