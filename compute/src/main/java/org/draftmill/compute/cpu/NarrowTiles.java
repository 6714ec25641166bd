package org.draftmill.compute.cpu;

import static org.draftmill.compute.cpu.VectorKernels.F;
import static org.draftmill.compute.cpu.VectorKernels.L;

import jdk.incubator.vector.FloatVector;

/**
 * Tiles of a product, two vectors wide: sums stay in registers over the whole depth. With six rows
 * they hold 12 sums, which is what 16 vector registers have room for; with 32 they do the right
 * edge of a product. The code is straight on purpose: a helper method or a branch inside the loop
 * costs most of the speed.
 */
final class NarrowTiles {
  private NarrowTiles() {}

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
    FloatVector c10 = FloatVector.fromArray(F, c, co + cs);
    FloatVector c11 = FloatVector.fromArray(F, c, co + cs + L);
    FloatVector c20 = FloatVector.fromArray(F, c, co + 2 * cs);
    FloatVector c21 = FloatVector.fromArray(F, c, co + 2 * cs + L);
    FloatVector c30 = FloatVector.fromArray(F, c, co + 3 * cs);
    FloatVector c31 = FloatVector.fromArray(F, c, co + 3 * cs + L);
    FloatVector c40 = FloatVector.fromArray(F, c, co + 4 * cs);
    FloatVector c41 = FloatVector.fromArray(F, c, co + 4 * cs + L);
    FloatVector c50 = FloatVector.fromArray(F, c, co + 5 * cs);
    FloatVector c51 = FloatVector.fromArray(F, c, co + 5 * cs + L);
    for (int p = 0, q = 0, r = bo; p < depth; p++, q += ap, r += bp) {
      FloatVector b0 = FloatVector.fromArray(F, b, r);
      FloatVector b1 = FloatVector.fromArray(F, b, r + L);
      FloatVector x0 = FloatVector.broadcast(F, a[ao + q]);
      c00 = x0.fma(b0, c00);
      c01 = x0.fma(b1, c01);
      FloatVector x1 = FloatVector.broadcast(F, a[a1 + q]);
      c10 = x1.fma(b0, c10);
      c11 = x1.fma(b1, c11);
      FloatVector x2 = FloatVector.broadcast(F, a[a2 + q]);
      c20 = x2.fma(b0, c20);
      c21 = x2.fma(b1, c21);
      FloatVector x3 = FloatVector.broadcast(F, a[a3 + q]);
      c30 = x3.fma(b0, c30);
      c31 = x3.fma(b1, c31);
      FloatVector x4 = FloatVector.broadcast(F, a[a4 + q]);
      c40 = x4.fma(b0, c40);
      c41 = x4.fma(b1, c41);
      FloatVector x5 = FloatVector.broadcast(F, a[a5 + q]);
      c50 = x5.fma(b0, c50);
      c51 = x5.fma(b1, c51);
    }
    c00.intoArray(c, co);
    c01.intoArray(c, co + L);
    c10.intoArray(c, co + cs);
    c11.intoArray(c, co + cs + L);
    c20.intoArray(c, co + 2 * cs);
    c21.intoArray(c, co + 2 * cs + L);
    c30.intoArray(c, co + 3 * cs);
    c31.intoArray(c, co + 3 * cs + L);
    c40.intoArray(c, co + 4 * cs);
    c41.intoArray(c, co + 4 * cs + L);
    c50.intoArray(c, co + 5 * cs);
    c51.intoArray(c, co + 5 * cs + L);
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
    FloatVector c10 = FloatVector.fromArray(F, c, co + cs);
    FloatVector c11 = FloatVector.fromArray(F, c, co + cs + L);
    FloatVector c20 = FloatVector.fromArray(F, c, co + 2 * cs);
    FloatVector c21 = FloatVector.fromArray(F, c, co + 2 * cs + L);
    FloatVector c30 = FloatVector.fromArray(F, c, co + 3 * cs);
    FloatVector c31 = FloatVector.fromArray(F, c, co + 3 * cs + L);
    for (int p = 0, q = 0, r = bo; p < depth; p++, q += ap, r += bp) {
      FloatVector b0 = FloatVector.fromArray(F, b, r);
      FloatVector b1 = FloatVector.fromArray(F, b, r + L);
      FloatVector x0 = FloatVector.broadcast(F, a[ao + q]);
      c00 = x0.fma(b0, c00);
      c01 = x0.fma(b1, c01);
      FloatVector x1 = FloatVector.broadcast(F, a[a1 + q]);
      c10 = x1.fma(b0, c10);
      c11 = x1.fma(b1, c11);
      FloatVector x2 = FloatVector.broadcast(F, a[a2 + q]);
      c20 = x2.fma(b0, c20);
      c21 = x2.fma(b1, c21);
      FloatVector x3 = FloatVector.broadcast(F, a[a3 + q]);
      c30 = x3.fma(b0, c30);
      c31 = x3.fma(b1, c31);
    }
    c00.intoArray(c, co);
    c01.intoArray(c, co + L);
    c10.intoArray(c, co + cs);
    c11.intoArray(c, co + cs + L);
    c20.intoArray(c, co + 2 * cs);
    c21.intoArray(c, co + 2 * cs + L);
    c30.intoArray(c, co + 3 * cs);
    c31.intoArray(c, co + 3 * cs + L);
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
    FloatVector c10 = FloatVector.fromArray(F, c, co + cs);
    FloatVector c11 = FloatVector.fromArray(F, c, co + cs + L);
    for (int p = 0, q = 0, r = bo; p < depth; p++, q += ap, r += bp) {
      FloatVector b0 = FloatVector.fromArray(F, b, r);
      FloatVector b1 = FloatVector.fromArray(F, b, r + L);
      FloatVector x0 = FloatVector.broadcast(F, a[ao + q]);
      c00 = x0.fma(b0, c00);
      c01 = x0.fma(b1, c01);
      FloatVector x1 = FloatVector.broadcast(F, a[a1 + q]);
      c10 = x1.fma(b0, c10);
      c11 = x1.fma(b1, c11);
    }
    c00.intoArray(c, co);
    c01.intoArray(c, co + L);
    c10.intoArray(c, co + cs);
    c11.intoArray(c, co + cs + L);
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
    for (int p = 0, q = 0, r = bo; p < depth; p++, q += ap, r += bp) {
      FloatVector b0 = FloatVector.fromArray(F, b, r);
      FloatVector b1 = FloatVector.fromArray(F, b, r + L);
      FloatVector x0 = FloatVector.broadcast(F, a[ao + q]);
      c00 = x0.fma(b0, c00);
      c01 = x0.fma(b1, c01);
    }
    c00.intoArray(c, co);
    c01.intoArray(c, co + L);
  }
}
