package org.draftmill.compute.cpu;

import java.util.Arrays;
import org.draftmill.compute.host.HostMatrix;

/** RMSNorm over groups of columns, shapes as in {@link org.draftmill.compute.ops.Ops#rmsNorm}. */
final class RowNorm {
  /** Rows whose weight gradients are summed together; part of what results are defined by. */
  private static final int BLOCK = 64;

  private final Kernels kernels;
  private final Parallel parallel;
  private final Spare[] spares;
  private final Scratch partials = new Scratch();

  /** With a spare for each thread of {@code parallel}. */
  RowNorm(Kernels kernels, Parallel parallel, Spare[] spares) {
    this.kernels = kernels;
    this.parallel = parallel;
    this.spares = spares;
  }

  long bytesHeld() {
    return partials.bytes();
  }

  void forward(HostMatrix x, HostMatrix weight, float eps, HostMatrix out) {
    int group = weight.columns();
    int shift = out.offset() - x.offset();
    parallel.overRows(
        x.rows(),
        2L * x.size(),
        (from, end, worker) -> {
          for (int at = x.at(from); at < x.at(end); at += group) {
            float factor = inverseRoot(x, at, group, eps, worker);
            kernels.scaledProduct(
                x.data(),
                at,
                factor,
                weight.data(),
                weight.offset(),
                out.data(),
                at + shift,
                group);
          }
        });
  }

  /** Formula at {@code ReferenceOps}; the weight's gradient is summed over fixed blocks of rows. */
  void backward(
      HostMatrix x,
      HostMatrix weight,
      float eps,
      HostMatrix dOut,
      HostMatrix dX,
      HostMatrix accumulatedDWeight) {
    int group = weight.columns();
    int blocks = (x.rows() + BLOCK - 1) / BLOCK;
    float[] sums = partials.atLeast(blocks * group);
    parallel.run(
        blocks,
        4L * x.size(),
        (block, worker) -> {
          int end = Math.min(x.rows(), (block + 1) * BLOCK);
          Arrays.fill(sums, block * group, (block + 1) * group, 0f);
          for (int at = block * BLOCK * x.columns(); at < end * x.columns(); at += group) {
            int xo = x.offset() + at;
            int go = dOut.offset() + at;
            float factor = inverseRoot(x, xo, group, eps, worker);
            float dot =
                kernels.sumOfProducts(
                    dOut.data(),
                    go,
                    weight.data(),
                    weight.offset(),
                    x.data(),
                    xo,
                    group,
                    spares[worker]);
            float back = dot / group * factor * factor;
            kernels.normGradient(
                x.data(),
                xo,
                weight.data(),
                weight.offset(),
                dOut.data(),
                go,
                factor,
                back,
                dX.data(),
                dX.offset() + at,
                sums,
                block * group,
                group);
          }
        });
    float[] total = accumulatedDWeight.data();
    int to = accumulatedDWeight.offset();
    for (int block = 0; block < blocks; block++) {
      kernels.add(total, to, sums, block * group, total, to, group);
    }
  }

  private float inverseRoot(HostMatrix x, int at, int group, float eps, int worker) {
    float squares =
        kernels.sumOfProducts(x.data(), at, x.data(), at, null, 0, group, spares[worker]);
    return Scalar.inverseRoot(squares, group, eps);
  }
}
