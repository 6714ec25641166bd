package org.draftmill.compute.cpu;

/** The tile of a product in plain Java: sums in local variables over the whole depth. */
final class PlainTile {
  private PlainTile() {}

  /** One row of eight columns; arguments as in {@link Kernels#multiplyAdd}. */
  static void eightColumns(
      int depth, float[] a, int ao, int ap, float[] b, int bo, int bp, float[] c, int co) {
    float c0 = c[co];
    float c1 = c[co + 1];
    float c2 = c[co + 2];
    float c3 = c[co + 3];
    float c4 = c[co + 4];
    float c5 = c[co + 5];
    float c6 = c[co + 6];
    float c7 = c[co + 7];
    for (int p = 0, q = ao, r = bo; p < depth; p++, q += ap, r += bp) {
      float x = a[q];
      c0 = Scalar.fma(x, b[r], c0);
      c1 = Scalar.fma(x, b[r + 1], c1);
      c2 = Scalar.fma(x, b[r + 2], c2);
      c3 = Scalar.fma(x, b[r + 3], c3);
      c4 = Scalar.fma(x, b[r + 4], c4);
      c5 = Scalar.fma(x, b[r + 5], c5);
      c6 = Scalar.fma(x, b[r + 6], c6);
      c7 = Scalar.fma(x, b[r + 7], c7);
    }
    c[co] = c0;
    c[co + 1] = c1;
    c[co + 2] = c2;
    c[co + 3] = c3;
    c[co + 4] = c4;
    c[co + 5] = c5;
    c[co + 6] = c6;
    c[co + 7] = c7;
  }
}
