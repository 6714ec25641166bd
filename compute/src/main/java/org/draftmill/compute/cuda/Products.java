package org.draftmill.compute.cuda;

import org.draftmill.compute.cuda.Multiplier.Product;
import org.draftmill.compute.cuda.Rounding.Lines;
import org.draftmill.compute.ops.Matrix;
import org.draftmill.compute.ops.Weight;

/**
 * Matrix products. Activations are rounded to bf16 into scratch memory, lines padded like a
 * weight's; then a {@link Multiplier} takes them.
 */
final class Products {
  private final Multiplier multiplier;
  private final Rounding rounding;

  Products(Multiplier multiplier, Rounding rounding) {
    this.multiplier = multiplier;
    this.rounding = rounding;
  }

  /** See {@link org.draftmill.compute.ops.Ops#linear}. */
  void linear(Matrix x, Weight w, Matrix out) {
    CudaWeight weight = CudaWeight.of(w);
    multiplier.multiply(
        Product.LINEAR,
        rounding.rows("products x", x),
        lines(weight),
        CudaMatrix.of(out),
        weight.inputs(),
        false);
  }

  /** See {@link org.draftmill.compute.ops.Ops#linearBackwardInput}. */
  void linearBackwardInput(Matrix dOut, Weight w, Matrix dX, boolean accumulate) {
    CudaWeight weight = CudaWeight.of(w);
    multiplier.multiply(
        Product.BACKWARD_INPUT,
        rounding.rows("products dOut", dOut),
        lines(weight),
        CudaMatrix.of(dX),
        weight.outputs(),
        accumulate);
  }

  /** See {@link org.draftmill.compute.ops.Ops#linearBackwardWeight}. */
  void linearBackwardWeight(Matrix dOut, Matrix x, Matrix accumulatedDW) {
    multiplier.multiply(
        Product.BACKWARD_WEIGHT,
        rounding.rows("products dOut", dOut),
        rounding.rows("products x", x),
        CudaMatrix.of(accumulatedDW),
        x.rows(),
        true);
  }

  private static Lines lines(CudaWeight weight) {
    return new Lines(weight.piece(), weight.stride());
  }
}
