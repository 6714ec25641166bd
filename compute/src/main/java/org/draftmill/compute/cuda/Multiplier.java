package org.draftmill.compute.cuda;

import org.draftmill.compute.cuda.Rounding.Lines;

/** Multiplies operands in bf16 and sums in fp32: our own kernels, or a library. */
interface Multiplier {
  /** Which way round the operands lie; {@code k} is what is summed over. */
  enum Product {
    /** {@code c[m, n] = a[m, k]·b[n, k]ᵀ}. */
    LINEAR,
    /** {@code c[m, n] = a[m, k]·b[k, n]}. */
    BACKWARD_INPUT,
    /** {@code c[m, n] = a[k, m]ᵀ·b[k, n]}. */
    BACKWARD_WEIGHT
  }

  /**
   * Puts a product on the stream.
   *
   * @param c overwritten, or added to with {@code accumulate}; nothing of it lies in {@code a} or
   *     {@code b}
   */
  void multiply(Product product, Lines a, Lines b, CudaMatrix c, int k, boolean accumulate);

  /** What the bits of a product depend on, beside the GPU, as a text. */
  String arithmetic();
}
