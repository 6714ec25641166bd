package org.draftmill.compute.cpu;

import static org.draftmill.compute.cpu.VectorKernels.F;
import static org.draftmill.compute.cpu.VectorKernels.L;

import jdk.incubator.vector.FloatVector;

/**
 * Tiles of a product, four vectors wide: sums stay in registers over the whole depth. With six rows
 * they hold 24 sums, which is what 32 vector registers have room for. The code is straight on
 * purpose: a helper method or a branch inside the loop costs most of the speed.
 */
final class WideTiles {
  private WideTiles() {}

  /** Six rows of a tile; arguments as in {@link Kernels#multiplyAdd}. */
  static void rows6(
      float[] a,
      int ao,
      int ai,
      int ap,
      float[] b,
      int bo,
      int bp,
      int depth,
      float[] c,
      int co,
      int cs) {
    int a1 = ao + 1 * ai;
    int a2 = ao + 2 * ai;
    int a3 = ao + 3 * ai;
    int a4 = ao + 4 * ai;
    int a5 = ao + 5 * ai;
    FloatVector c00 = FloatVector.fromArray(F, c, co);
    FloatVector c01 = FloatVector.fromArray(F, c, co + L);
    FloatVector c02 = FloatVector.fromArray(F, c, co + 2 * L);
    FloatVector c03 = FloatVector.fromArray(F, c, co + 3 * L);
    FloatVector c10 = FloatVector.fromArray(F, c, co + cs);
    FloatVector c11 = FloatVector.fromArray(F, c, co + cs + L);
    FloatVector c12 = FloatVector.fromArray(F, c, co + cs + 2 * L);
    FloatVector c13 = FloatVector.fromArray(F, c, co + cs + 3 * L);
    FloatVector c20 = FloatVector.fromArray(F, c, co + 2 * cs);
    FloatVector c21 = FloatVector.fromArray(F, c, co + 2 * cs + L);
    FloatVector c22 = FloatVector.fromArray(F, c, co + 2 * cs + 2 * L);
    FloatVector c23 = FloatVector.fromArray(F, c, co + 2 * cs + 3 * L);
    FloatVector c30 = FloatVector.fromArray(F, c, co + 3 * cs);
    FloatVector c31 = FloatVector.fromArray(F, c, co + 3 * cs + L);
    FloatVector c32 = FloatVector.fromArray(F, c, co + 3 * cs + 2 * L);
    FloatVector c33 = FloatVector.fromArray(F, c, co + 3 * cs + 3 * L);
    FloatVector c40 = FloatVector.fromArray(F, c, co + 4 * cs);
    FloatVector c41 = FloatVector.fromArray(F, c, co + 4 * cs + L);
    FloatVector c42 = FloatVector.fromArray(F, c, co + 4 * cs + 2 * L);
    FloatVector c43 = FloatVector.fromArray(F, c, co + 4 * cs + 3 * L);
    FloatVector c50 = FloatVector.fromArray(F, c, co + 5 * cs);
    FloatVector c51 = FloatVector.fromArray(F, c, co + 5 * cs + L);
    FloatVector c52 = FloatVector.fromArray(F, c, co + 5 * cs + 2 * L);
    FloatVector c53 = FloatVector.fromArray(F, c, co + 5 * cs + 3 * L);
    for (int p = 0, q = 0, r = bo; p < depth; p++, q += ap, r += bp) {
      FloatVector b0 = FloatVector.fromArray(F, b, r);
      FloatVector b1 = FloatVector.fromArray(F, b, r + L);
      FloatVector b2 = FloatVector.fromArray(F, b, r + 2 * L);
      FloatVector b3 = FloatVector.fromArray(F, b, r + 3 * L);
      FloatVector x0 = FloatVector.broadcast(F, a[ao + q]);
      c00 = x0.fma(b0, c00);
      c01 = x0.fma(b1, c01);
      c02 = x0.fma(b2, c02);
      c03 = x0.fma(b3, c03);
      FloatVector x1 = FloatVector.broadcast(F, a[a1 + q]);
      c10 = x1.fma(b0, c10);
      c11 = x1.fma(b1, c11);
      c12 = x1.fma(b2, c12);
      c13 = x1.fma(b3, c13);
      FloatVector x2 = FloatVector.broadcast(F, a[a2 + q]);
      c20 = x2.fma(b0, c20);
      c21 = x2.fma(b1, c21);
      c22 = x2.fma(b2, c22);
      c23 = x2.fma(b3, c23);
      FloatVector x3 = FloatVector.broadcast(F, a[a3 + q]);
      c30 = x3.fma(b0, c30);
      c31 = x3.fma(b1, c31);
      c32 = x3.fma(b2, c32);
      c33 = x3.fma(b3, c33);
      FloatVector x4 = FloatVector.broadcast(F, a[a4 + q]);
      c40 = x4.fma(b0, c40);
      c41 = x4.fma(b1, c41);
      c42 = x4.fma(b2, c42);
      c43 = x4.fma(b3, c43);
      FloatVector x5 = FloatVector.broadcast(F, a[a5 + q]);
      c50 = x5.fma(b0, c50);
      c51 = x5.fma(b1, c51);
      c52 = x5.fma(b2, c52);
      c53 = x5.fma(b3, c53);
    }
    c00.intoArray(c, co);
    c01.intoArray(c, co + L);
    c02.intoArray(c, co + 2 * L);
    c03.intoArray(c, co + 3 * L);
    c10.intoArray(c, co + cs);
    c11.intoArray(c, co + cs + L);
    c12.intoArray(c, co + cs + 2 * L);
    c13.intoArray(c, co + cs + 3 * L);
    c20.intoArray(c, co + 2 * cs);
    c21.intoArray(c, co + 2 * cs + L);
    c22.intoArray(c, co + 2 * cs + 2 * L);
    c23.intoArray(c, co + 2 * cs + 3 * L);
    c30.intoArray(c, co + 3 * cs);
    c31.intoArray(c, co + 3 * cs + L);
    c32.intoArray(c, co + 3 * cs + 2 * L);
    c33.intoArray(c, co + 3 * cs + 3 * L);
    c40.intoArray(c, co + 4 * cs);
    c41.intoArray(c, co + 4 * cs + L);
    c42.intoArray(c, co + 4 * cs + 2 * L);
    c43.intoArray(c, co + 4 * cs + 3 * L);
    c50.intoArray(c, co + 5 * cs);
    c51.intoArray(c, co + 5 * cs + L);
    c52.intoArray(c, co + 5 * cs + 2 * L);
    c53.intoArray(c, co + 5 * cs + 3 * L);
  }

  /** Four rows of a tile; arguments as in {@link Kernels#multiplyAdd}. */
  static void rows4(
      float[] a,
      int ao,
      int ai,
      int ap,
      float[] b,
      int bo,
      int bp,
      int depth,
      float[] c,
      int co,
      int cs) {
    int a1 = ao + 1 * ai;
    int a2 = ao + 2 * ai;
    int a3 = ao + 3 * ai;
    FloatVector c00 = FloatVector.fromArray(F, c, co);
    FloatVector c01 = FloatVector.fromArray(F, c, co + L);
    FloatVector c02 = FloatVector.fromArray(F, c, co + 2 * L);
    FloatVector c03 = FloatVector.fromArray(F, c, co + 3 * L);
    FloatVector c10 = FloatVector.fromArray(F, c, co + cs);
    FloatVector c11 = FloatVector.fromArray(F, c, co + cs + L);
    FloatVector c12 = FloatVector.fromArray(F, c, co + cs + 2 * L);
    FloatVector c13 = FloatVector.fromArray(F, c, co + cs + 3 * L);
    FloatVector c20 = FloatVector.fromArray(F, c, co + 2 * cs);
    FloatVector c21 = FloatVector.fromArray(F, c, co + 2 * cs + L);
    FloatVector c22 = FloatVector.fromArray(F, c, co + 2 * cs + 2 * L);
    FloatVector c23 = FloatVector.fromArray(F, c, co + 2 * cs + 3 * L);
    FloatVector c30 = FloatVector.fromArray(F, c, co + 3 * cs);
    FloatVector c31 = FloatVector.fromArray(F, c, co + 3 * cs + L);
    FloatVector c32 = FloatVector.fromArray(F, c, co + 3 * cs + 2 * L);
    FloatVector c33 = FloatVector.fromArray(F, c, co + 3 * cs + 3 * L);
    for (int p = 0, q = 0, r = bo; p < depth; p++, q += ap, r += bp) {
      FloatVector b0 = FloatVector.fromArray(F, b, r);
      FloatVector b1 = FloatVector.fromArray(F, b, r + L);
      FloatVector b2 = FloatVector.fromArray(F, b, r + 2 * L);
      FloatVector b3 = FloatVector.fromArray(F, b, r + 3 * L);
      FloatVector x0 = FloatVector.broadcast(F, a[ao + q]);
      c00 = x0.fma(b0, c00);
      c01 = x0.fma(b1, c01);
      c02 = x0.fma(b2, c02);
      c03 = x0.fma(b3, c03);
      FloatVector x1 = FloatVector.broadcast(F, a[a1 + q]);
      c10 = x1.fma(b0, c10);
      c11 = x1.fma(b1, c11);
      c12 = x1.fma(b2, c12);
      c13 = x1.fma(b3, c13);
      FloatVector x2 = FloatVector.broadcast(F, a[a2 + q]);
      c20 = x2.fma(b0, c20);
      c21 = x2.fma(b1, c21);
      c22 = x2.fma(b2, c22);
      c23 = x2.fma(b3, c23);
      FloatVector x3 = FloatVector.broadcast(F, a[a3 + q]);
      c30 = x3.fma(b0, c30);
      c31 = x3.fma(b1, c31);
      c32 = x3.fma(b2, c32);
      c33 = x3.fma(b3, c33);
    }
    c00.intoArray(c, co);
    c01.intoArray(c, co + L);
    c02.intoArray(c, co + 2 * L);
    c03.intoArray(c, co + 3 * L);
    c10.intoArray(c, co + cs);
    c11.intoArray(c, co + cs + L);
    c12.intoArray(c, co + cs + 2 * L);
    c13.intoArray(c, co + cs + 3 * L);
    c20.intoArray(c, co + 2 * cs);
    c21.intoArray(c, co + 2 * cs + L);
    c22.intoArray(c, co + 2 * cs + 2 * L);
    c23.intoArray(c, co + 2 * cs + 3 * L);
    c30.intoArray(c, co + 3 * cs);
    c31.intoArray(c, co + 3 * cs + L);
    c32.intoArray(c, co + 3 * cs + 2 * L);
    c33.intoArray(c, co + 3 * cs + 3 * L);
  }

  /** Two rows of a tile; arguments as in {@link Kernels#multiplyAdd}. */
  static void rows2(
      float[] a,
      int ao,
      int ai,
      int ap,
      float[] b,
      int bo,
      int bp,
      int depth,
      float[] c,
      int co,
      int cs) {
    int a1 = ao + 1 * ai;
    FloatVector c00 = FloatVector.fromArray(F, c, co);
    FloatVector c01 = FloatVector.fromArray(F, c, co + L);
    FloatVector c02 = FloatVector.fromArray(F, c, co + 2 * L);
    FloatVector c03 = FloatVector.fromArray(F, c, co + 3 * L);
    FloatVector c10 = FloatVector.fromArray(F, c, co + cs);
    FloatVector c11 = FloatVector.fromArray(F, c, co + cs + L);
    FloatVector c12 = FloatVector.fromArray(F, c, co + cs + 2 * L);
    FloatVector c13 = FloatVector.fromArray(F, c, co + cs + 3 * L);
    for (int p = 0, q = 0, r = bo; p < depth; p++, q += ap, r += bp) {
      FloatVector b0 = FloatVector.fromArray(F, b, r);
      FloatVector b1 = FloatVector.fromArray(F, b, r + L);
      FloatVector b2 = FloatVector.fromArray(F, b, r + 2 * L);
      FloatVector b3 = FloatVector.fromArray(F, b, r + 3 * L);
      FloatVector x0 = FloatVector.broadcast(F, a[ao + q]);
      c00 = x0.fma(b0, c00);
      c01 = x0.fma(b1, c01);
      c02 = x0.fma(b2, c02);
      c03 = x0.fma(b3, c03);
      FloatVector x1 = FloatVector.broadcast(F, a[a1 + q]);
      c10 = x1.fma(b0, c10);
      c11 = x1.fma(b1, c11);
      c12 = x1.fma(b2, c12);
      c13 = x1.fma(b3, c13);
    }
    c00.intoArray(c, co);
    c01.intoArray(c, co + L);
    c02.intoArray(c, co + 2 * L);
    c03.intoArray(c, co + 3 * L);
    c10.intoArray(c, co + cs);
    c11.intoArray(c, co + cs + L);
    c12.intoArray(c, co + cs + 2 * L);
    c13.intoArray(c, co + cs + 3 * L);
  }

  /** One row of a tile; arguments as in {@link Kernels#multiplyAdd}. */
  static void rows1(
      float[] a,
      int ao,
      int ai,
      int ap,
      float[] b,
      int bo,
      int bp,
      int depth,
      float[] c,
      int co,
      int cs) {
    FloatVector c00 = FloatVector.fromArray(F, c, co);
    FloatVector c01 = FloatVector.fromArray(F, c, co + L);
    FloatVector c02 = FloatVector.fromArray(F, c, co + 2 * L);
    FloatVector c03 = FloatVector.fromArray(F, c, co + 3 * L);
    for (int p = 0, q = 0, r = bo; p < depth; p++, q += ap, r += bp) {
      FloatVector b0 = FloatVector.fromArray(F, b, r);
      FloatVector b1 = FloatVector.fromArray(F, b, r + L);
      FloatVector b2 = FloatVector.fromArray(F, b, r + 2 * L);
      FloatVector b3 = FloatVector.fromArray(F, b, r + 3 * L);
      FloatVector x0 = FloatVector.broadcast(F, a[ao + q]);
      c00 = x0.fma(b0, c00);
      c01 = x0.fma(b1, c01);
      c02 = x0.fma(b2, c02);
      c03 = x0.fma(b3, c03);
    }
    c00.intoArray(c, co);
    c01.intoArray(c, co + L);
    c02.intoArray(c, co + 2 * L);
    c03.intoArray(c, co + 3 * L);
  }
}
