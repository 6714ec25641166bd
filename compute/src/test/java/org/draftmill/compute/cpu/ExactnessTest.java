package org.draftmill.compute.cpu;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.draftmill.compute.OpCases;
import org.draftmill.compute.OpCases.OpCase;
import org.draftmill.compute.ops.Backend;
import org.draftmill.compute.ops.Heads;
import org.draftmill.compute.ops.Matrix;
import org.draftmill.compute.ops.Weight;
import org.draftmill.compute.ops.Workspace;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Results to the bit: whatever the threads, the width of vectors, or the rows beside. */
class ExactnessTest {

  static Stream<OpCase> cases() {
    return OpCases.all().stream();
  }

  @ParameterizedTest
  @MethodSource("cases")
  void sameBitsWithAnyNumberOfThreads(OpCase op) {
    List<float[]> alone;
    try (Backend one = new CpuBackend(1)) {
      alone = op.on(one);
    }
    for (int threads = 2; threads <= 8; threads++) {
      try (Backend several = new CpuBackend(threads)) {
        assertSameBits(op + " on " + threads + " threads", op.on(several), alone);
      }
    }
  }

  @Test
  void sameBitsWithPlainLoops() {
    try (Backend vector = new CpuBackend(1, new VectorKernels());
        Backend plain = new CpuBackend(1, new Kernels())) {
      for (OpCase op : OpCases.all()) {
        assertSameBits(op.name(), op.on(plain), op.on(vector));
      }
    }
  }

  /**
   * The widths that processors have; which of them a Java prefers differs from one to another. Each
   * takes a fourth of the operations, for those that this processor lacks are slow.
   */
  @ParameterizedTest
  @ValueSource(ints = {64, 128, 256, 512})
  void sameBitsWithVectorsOfAnyWidth(int bits) throws ReflectiveOperationException {
    List<OpCase> all = OpCases.all();
    List<OpCase> fourth = new ArrayList<>();
    for (int i = Integer.numberOfTrailingZeros(bits / 64); i < all.size(); i += 4) {
      fourth.add(all.get(i));
    }
    assertSameBitsWithWidth(bits, fourth);
  }

  @Tag("chaos")
  @ParameterizedTest
  @ValueSource(ints = {64, 128, 256, 512})
  void sameBitsOfEveryOperationWithVectorsOfAnyWidth(int bits) throws ReflectiveOperationException {
    assertSameBitsWithWidth(bits, OpCases.all());
  }

  private static void assertSameBitsWithWidth(int bits, List<OpCase> cases)
      throws ReflectiveOperationException {
    try (Backend preferred = new CpuBackend(1);
        Backend other = OtherVectorWidth.open(bits, 1 + bits / 64 % 7)) {
      for (OpCase op : cases) {
        assertSameBits(op + " with " + bits + " bits", op.on(other), op.on(preferred));
      }
    }
  }

  /** A row of a product is the same alone, among a thousand, and in another place. */
  @Test
  void aRowOfAProductDependsOnItselfAlone() {
    Random random = new Random(7);
    float[] values = floats(random, 1000 * 300);
    float[] weights = floats(random, 130 * 300);
    try (Backend backend = new CpuBackend(2);
        Workspace memory = backend.workspace()) {
      Matrix x = memory.matrix(1000, 300, values);
      Weight w = memory.arrange(memory.matrix(130, 300, weights));
      Matrix all = memory.matrix(1000, 130);
      backend.ops().linear(x, w, all);
      float[] expected = all.toArray();
      for (int rows : new int[] {1, 2, 3, 5, 8, 11, 96, 97}) {
        Matrix some = memory.matrix(rows, 130);
        int first = random.nextInt(1000 - rows);
        backend.ops().linear(x.rows(first, first + rows), w, some);
        assertThat(some.toArray())
            .as("%d rows from %d", rows, first)
            .containsExactly(Arrays.copyOfRange(expected, first * 130, (first + rows) * 130));
      }
    }
  }

  /** Packed prefill, a document alone, and decoding row by row or some rows at a time. */
  @ParameterizedTest
  @ValueSource(ints = {0, 50})
  void attentionIsTheSamePackedAloneAndCached(int window) {
    Heads heads = new Heads(4, 2, 64);
    Random random = new Random(3);
    int n = 260;
    int start = 53;
    try (Backend backend = new CpuBackend(2);
        Workspace memory = backend.workspace()) {
      Matrix q = memory.matrix(n, 256, floats(random, n * 256));
      Matrix k = memory.matrix(n, 128, floats(random, n * 128));
      Matrix v = memory.matrix(n, 128, floats(random, n * 128));
      Matrix packed = memory.matrix(n, 256);
      backend.ops().causalAttention(q, k, v, new int[] {0, start, n}, heads, window, packed);
      float[] expected = packed.rows(start, n).toArray();

      Matrix alone = memory.matrix(n - start, 256);
      Matrix keys = k.rows(start, n);
      Matrix values = v.rows(start, n);
      backend
          .ops()
          .causalAttention(
              q.rows(start, n), keys, values, new int[] {0, n - start}, heads, window, alone);
      assertThat(alone.toArray()).containsExactly(expected);

      Matrix cached = memory.matrix(n - start, 256);
      int length = 0;
      while (length < n - start) {
        int rows = Math.min(1 + random.nextInt(9), n - start - length);
        length += rows;
        backend
            .ops()
            .cachedAttention(
                q.rows(start + length - rows, start + length),
                keys,
                values,
                length,
                heads,
                window,
                cached.rows(length - rows, length));
      }
      assertThat(cached.toArray()).containsExactly(expected);
    }
  }

  private static float[] floats(Random random, int count) {
    float[] values = new float[count];
    for (int i = 0; i < count; i++) {
      values[i] = (float) random.nextGaussian();
    }
    return values;
  }

  private static void assertSameBits(String what, List<float[]> found, List<float[]> expected) {
    for (int r = 0; r < expected.size(); r++) {
      assertThat(found.get(r)).as("%s, result %d", what, r).containsExactly(expected.get(r));
    }
  }
}
