package org.draftmill.operators.gpu;

import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ReadableConfig;
import org.draftmill.compute.cuda.CudaBackend;
import org.draftmill.compute.cuda.MatrixProducts;

/**
 * What multiplies matrices on the GPUs of a run: the same on all of them, or the weights would
 * depend on who computed what.
 */
public final class GpuProducts {
  public static final ConfigOption<MatrixProducts> OPTION =
      ConfigOptions.key("run.products")
          .enumType(MatrixProducts.class)
          .defaultValue(MatrixProducts.AUTO)
          .withDescription(
              "What multiplies matrices on GPUs: `own` (our kernels), `cublas` (NVIDIA's library,"
                  + " of CUDA 12; a run on GPUs that cannot load it is refused), or `auto`: with"
                  + " `train` cublas if this machine has it, with `flink run` own, since hosts with and"
                  + " without it would not give the same bits. A run goes on with what it began"
                  + " with.");

  private GpuProducts() {}

  /**
   * What a run with these options multiplies by: {@code own}, unless the library is named or {@link
   * #settle} has found it.
   */
  public static MatrixProducts of(ReadableConfig options) {
    return options.get(OPTION) == MatrixProducts.CUBLAS
        ? MatrixProducts.CUBLAS
        : MatrixProducts.OWN;
  }

  /** Puts what this machine has in the place of {@code auto}, for a run that stays on it. */
  public static void settle(Configuration options) {
    if (options.get(OPTION) == MatrixProducts.AUTO) {
      options.set(OPTION, CudaBackend.hasCublas() ? MatrixProducts.CUBLAS : MatrixProducts.OWN);
    }
  }
}
