package org.draftmill.compute.cuda;

import jcuda.Pointer;
import jcuda.cudaDataType;
import jcuda.driver.CUresult;
import jcuda.jcublas.JCublas2;
import jcuda.jcublas.cublasComputeType;
import jcuda.jcublas.cublasGemmAlgo;
import jcuda.jcublas.cublasHandle;
import jcuda.jcublas.cublasOperation;
import jcuda.jcublas.cublasStatus;
import jcuda.runtime.cudaStream_t;
import org.draftmill.compute.cuda.CublasBinding.Unavailable;
import org.draftmill.compute.cuda.Rounding.Lines;

/**
 * Products by cuBLAS, by way of JCublas2. Its workspace is ours and it has one stream, so a product
 * of the same shape on the same kind of GPU gives the same bits; a row of it may depend on how many
 * rows there are, unlike that of {@link OwnProducts}.
 */
final class CublasProducts implements Multiplier, CudaBackend.Part {
  private static final int NONE = cublasOperation.CUBLAS_OP_N;
  private static final int TRANSPOSED = cublasOperation.CUBLAS_OP_T;
  private static final Pointer ZERO = Pointer.to(new float[] {0});
  private static final Pointer ONE = Pointer.to(new float[] {1});

  private final CudaContext context;
  private final Launcher launcher;
  private final cublasHandle handle = new cublasHandle();
  private final String version;
  private boolean closed;

  /**
   * Makes a handle on the launcher's stream.
   *
   * @throws Unavailable when the library is not there, or does not start on this GPU
   */
  static CublasProducts open(CudaContext context, Launcher launcher, Scratch scratch)
      throws Unavailable {
    CublasBinding.require();
    return new CublasProducts(context, launcher, scratch);
  }

  private CublasProducts(CudaContext context, Launcher launcher, Scratch scratch)
      throws Unavailable {
    this.context = context;
    this.launcher = launcher;
    context.use();
    int result = JCublas2.cublasCreate(handle);
    if (result != cublasStatus.CUBLAS_STATUS_SUCCESS) {
      throw new Unavailable("it does not start on this GPU: " + explain(result));
    }
    try {
      int[] number = {0};
      check(JCublas2.cublasGetVersion(handle, number), "asking for the version");
      version = "%d.%d.%d".formatted(number[0] / 10_000, number[0] % 10_000 / 100, number[0] % 100);
      check(
          JCublas2.cublasSetStream(handle, new cudaStream_t(launcher.stream().handle())),
          "choosing the stream"); // which gives back the workspace, so it comes first
      long bytes = workspace(context.device());
      Piece workspace = scratch.bytes("cublas workspace", bytes);
      check(
          JCublas2.cublasSetWorkspace(handle, new DeviceAddress(workspace.address()), bytes),
          "giving it a workspace");
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  /** Bytes that NVIDIA recommends: 32 MiB from Hopper on. Part of what decides a result's bits. */
  private static long workspace(CudaDevice device) {
    return device.capability() >= 90 ? 32L << 20 : 4L << 20;
  }

  /** As in 12.6.4. */
  String version() {
    return version;
  }

  /**
   * {@inheritDoc}
   *
   * <p>cuBLAS stores by columns: what is {@code c} to us is {@code cᵀ} to it, and so are the
   * operands, which change places.
   */
  @Override
  public void multiply(Product product, Lines a, Lines b, CudaMatrix c, int k, boolean accumulate) {
    if (c.size() == 0 || k == 0 && accumulate) {
      return;
    }
    context.use();
    int result =
        JCublas2.cublasGemmEx_new( // the one that takes a compute type; without _new a data type
            handle,
            product == Product.LINEAR ? TRANSPOSED : NONE,
            product == Product.BACKWARD_WEIGHT ? TRANSPOSED : NONE,
            c.columns(),
            c.rows(),
            k,
            ONE,
            new DeviceAddress(b.piece().address()),
            cudaDataType.CUDA_R_16BF,
            b.stride(),
            new DeviceAddress(a.piece().address()),
            cudaDataType.CUDA_R_16BF,
            a.stride(),
            accumulate ? ONE : ZERO,
            new DeviceAddress(c.address()),
            cudaDataType.CUDA_R_32F,
            c.columns(),
            cublasComputeType.CUBLAS_COMPUTE_32F,
            cublasGemmAlgo.CUBLAS_GEMM_DEFAULT);
    if (result != cublasStatus.CUBLAS_STATUS_SUCCESS) {
      throw failure(
          result,
          "the product %s of %d by %d values over %d on the stream %s"
              .formatted(product, c.rows(), c.columns(), k, launcher.stream()));
    }
    launcher.noteUse(a.piece(), b.piece(), c);
  }

  @Override
  public String arithmetic() {
    return "cuBLAS " + version;
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      JCublas2.cublasDestroy(handle);
    }
  }

  private static void check(int result, String what) {
    if (result != cublasStatus.CUBLAS_STATUS_SUCCESS) {
      throw failure(result, what);
    }
  }

  private static CudaFailure failure(int result, String what) {
    return new CudaFailure(
        CUresult.CUDA_ERROR_UNKNOWN, "cuBLAS: %s failed: %s.".formatted(what, explain(result)));
  }

  private static String explain(int result) {
    return "%s (%d)".formatted(cublasStatus.stringFor(result), result);
  }
}
