package org.draftmill.compute.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.util.List;
import java.util.stream.Stream;
import org.draftmill.compute.OpCases;
import org.draftmill.compute.OpCases.OpCase;
import org.draftmill.compute.host.PoisonedMemory;
import org.draftmill.compute.ops.Backend;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every operation against the reference, in memory that is watched. {@code -Ddraftmill.cases=norm}
 * takes those whose name contains the word.
 */
@ExtendWith({CudaEmulator.class, PoisonedMemory.class})
class CudaContractTest {
  private static final double ABSOLUTE = 3e-5;
  private static final double RELATIVE = 3e-5;

  /** Of the largest value of a result, where what a product takes was computed before. */
  private static final double ROUNDED = 0x1p-8;

  private static final ErrorTable TABLE = new ErrorTable();

  @AfterAll
  static void writeTable() throws IOException {
    TABLE.write();
  }

  static Stream<OpCase> cases() {
    String wanted = System.getProperty("draftmill.cases", "");
    return OpCases.all().stream().filter(op -> op.name().contains(wanted));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("cases")
  void agreesWithTheReference(OpCase op) {
    agrees(op, MatrixProducts.OWN);
  }

  static Stream<OpCase> products() {
    return cases().filter(op -> op.name().startsWith("linear") || op.name().startsWith("head"));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("products")
  void agreesWithTheReferenceByCublas(OpCase op) {
    assumeTrue(CublasProductsTest.isThere(), "libcublas.so.12 was not found");
    agrees(op, MatrixProducts.CUBLAS);
  }

  private static void agrees(OpCase op, MatrixProducts products) {
    try (CudaBackend backend = CudaBackend.open(0, products);
        Backend reference = new RoundingReference()) {
      final long start = System.nanoTime();
      List<float[]> found = op.on(backend);
      final double seconds = (System.nanoTime() - start) * 1e-9;
      List<float[]> expected = op.on(reference);
      for (int r = 0; r < expected.size(); r++) {
        double more = roundings(op, r) * ROUNDED * largest(expected.get(r));
        assertClose(op + ", result " + r, found.get(r), expected.get(r), ABSOLUTE + more);
      }
      TABLE.add(op.name(), products, found, expected, seconds);
    }
  }

  /**
   * How often a result comes from a product with an operand that was itself computed: rounded to
   * bf16 it may come out on the other side than the reference's. These are the probabilities of
   * attention, their gradients (which go back to probabilities by way of {@code out}), and the
   * gradient of logits in the vocabulary loss.
   */
  private static int roundings(OpCase op, int result) {
    if (op.name().startsWith("head loss")) {
      return result == 0 ? 1 : 0; // dX
    }
    if (op.name().startsWith("block attention")) {
      return result == 0 ? 1 : result == 1 ? 0 : 2; // out, logSumExp, gradients
    }
    return op.name().startsWith("attention") ? 1 : 0;
  }

  private static double largest(float[] values) {
    double largest = 0;
    for (float value : values) {
      largest = Math.max(largest, Math.abs(value));
    }
    return largest;
  }

  private static void assertClose(String what, float[] found, float[] expected, double absolute) {
    assertThat(found).as(what).hasSameSizeAs(expected);
    for (int i = 0; i < expected.length; i++) {
      double bound = absolute + RELATIVE * Math.abs(expected[i]);
      if (!(Math.abs(found[i] - expected[i]) <= bound)) {
        throw new AssertionError(
            what + " at " + i + ": found " + found[i] + ", expected " + expected[i]);
      }
    }
  }
}
