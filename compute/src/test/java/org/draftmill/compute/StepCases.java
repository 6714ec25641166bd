package org.draftmill.compute;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.draftmill.compute.OpCases.Inputs;
import org.draftmill.compute.OpCases.OpCase;
import org.draftmill.compute.ops.AdamW;
import org.draftmill.compute.ops.ExactSums;
import org.draftmill.compute.ops.Masters;

/** The end of a step: norm, AdamW, and hash of the weights, each backend's the same to the bit. */
public final class StepCases {
  private static final int BLOCK = Masters.BLOCK;

  private StepCases() {}

  public static List<OpCase> all() {
    List<OpCase> cases = new ArrayList<>();
    cases.add(step("of few weights", 5, 0, 5));
    cases.add(step("alone", BLOCK + 4099, 0, BLOCK + 4099));
    cases.add(step("of a shard", 2 * BLOCK + 1031, BLOCK, 2 * BLOCK));
    cases.add(step("of the last shard", BLOCK + 1031, BLOCK, BLOCK + 1031));
    cases.add(step("of no shard", 9, 9, 9));
    return cases;
  }

  /** Two updates of the elements from {@code from} to {@code to}, in two parts each. */
  private static OpCase step(String name, int size, int from, int to) {
    return new OpCase(
        "step " + name,
        (ops, in, results) -> {
          float[] weights = new float[size];
          for (int i = 0; i < size; i++) {
            weights[i] = (float) in.random().nextGaussian();
          }
          try (Masters masters = in.backend().masters(weights, from, to);
              ExactSums sums = in.backend().exactSums(size)) {
            for (int update = 1; update <= 2; update++) {
              sums.write(sums(in.random(), size));
              update(masters, sums, update, results);
            }
            results(masters, in, results);
          }
        });
  }

  private static void update(Masters masters, ExactSums sums, int update, List<float[]> results) {
    double[] squares = new double[(masters.size() + BLOCK - 1) / BLOCK];
    masters.squares(sums, 0x1p-40, squares);
    results.add(bits(squares));
    AdamW adamW = AdamW.of(1e-2, 0.9, 0.95, 1e-8, 0.01, update);
    int border = (masters.from() + 2 * masters.to()) / 3;
    masters.update(sums, 0x1.1p-41, adamW, masters.from(), border);
    masters.update(sums, 0x1.1p-41, adamW.withoutDecay(), border, masters.to());
  }

  private static void results(Masters masters, Inputs in, List<float[]> results) {
    int length = masters.to() - masters.from();
    float[] first = new float[length];
    float[] second = new float[length];
    masters.readMoments(first, second);
    results.add(first);
    results.add(second);
    results.add(masters.toHost(0, masters.size()).clone());
    results.add(bits(Double.longBitsToDouble(masters.fingerprint())));
  }

  /** Some of them zero, some near the largest that sums hold. */
  private static long[] sums(Random random, int size) {
    long[] sums = new long[size];
    for (int i = 0; i < size; i++) {
      sums[i] = random.nextInt(10) == 0 ? 0 : random.nextLong() >> 1 + random.nextInt(40);
    }
    return sums;
  }

  /** Byte by byte as small whole numbers, so that one bit more or less is a difference. */
  private static float[] bits(double... values) {
    float[] bits = new float[Double.BYTES * values.length];
    for (int i = 0; i < bits.length; i++) {
      long all = Double.doubleToRawLongBits(values[i / Double.BYTES]);
      bits[i] = all >>> Byte.SIZE * (i % Double.BYTES) & 0xFF;
    }
    return bits;
  }
}
