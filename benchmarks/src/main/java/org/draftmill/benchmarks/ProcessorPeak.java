package org.draftmill.benchmarks;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;

/** How many fp32 operations a second one core does at most: multiply-adds between registers. */
final class ProcessorPeak {
  private static final VectorSpecies<Float> F = FloatVector.SPECIES_PREFERRED;
  private static final int ROUNDS = 4_000_000;

  private ProcessorPeak() {}

  static double gigaflops(Stopwatch stopwatch) throws Exception {
    float[] values = new float[F.length()];
    double seconds = stopwatch.best(() -> multiplyAdd(values));
    return 12.0 * 2 * F.length() * ROUNDS / seconds * 1e-9;
  }

  /** Twelve independent chains hide the latency of each. */
  private static void multiplyAdd(float[] values) {
    FloatVector b = FloatVector.broadcast(F, 0.999f);
    FloatVector c = FloatVector.broadcast(F, 1e-3f);
    FloatVector a0 = FloatVector.fromArray(F, values, 0);
    FloatVector a1 = a0.add(1f);
    FloatVector a2 = a0.add(2f);
    FloatVector a3 = a0.add(3f);
    FloatVector a4 = a0.add(4f);
    FloatVector a5 = a0.add(5f);
    FloatVector a6 = a0.add(6f);
    FloatVector a7 = a0.add(7f);
    FloatVector a8 = a0.add(8f);
    FloatVector a9 = a0.add(9f);
    FloatVector a10 = a0.add(10f);
    FloatVector a11 = a0.add(11f);
    for (int i = 0; i < ROUNDS; i++) {
      a0 = a0.fma(b, c);
      a1 = a1.fma(b, c);
      a2 = a2.fma(b, c);
      a3 = a3.fma(b, c);
      a4 = a4.fma(b, c);
      a5 = a5.fma(b, c);
      a6 = a6.fma(b, c);
      a7 = a7.fma(b, c);
      a8 = a8.fma(b, c);
      a9 = a9.fma(b, c);
      a10 = a10.fma(b, c);
      a11 = a11.fma(b, c);
    }
    FloatVector low = a0.add(a1).add(a2).add(a3).add(a4).add(a5);
    low.add(a6).add(a7).add(a8).add(a9).add(a10).add(a11).intoArray(values, 0);
  }
}
