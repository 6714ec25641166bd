package org.draftmill.compute.cpu;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Stream;
import org.draftmill.compute.OpCases;
import org.draftmill.compute.OpCases.OpCase;
import org.draftmill.compute.host.PoisonedMemory;
import org.draftmill.compute.ops.Backend;
import org.draftmill.compute.reference.ReferenceBackend;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every implementation against the reference, on odd sizes, in memory that holds NaN until it is
 * written.
 */
@ExtendWith(PoisonedMemory.class)
class BackendContractTest {
  private static final double ABSOLUTE = 3e-5;
  private static final double RELATIVE = 3e-5;

  static Stream<Arguments> everyImplementation() {
    return Stream.of(
        Arguments.of("one thread", new CpuBackend(1, new VectorKernels())),
        Arguments.of("three threads", new CpuBackend(3, new VectorKernels())),
        Arguments.of("plain loops", new CpuBackend(2, new Kernels())));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("everyImplementation")
  void agreesWithTheReference(String name, Backend backend) {
    try (backend;
        Backend reference = new ReferenceBackend()) {
      for (OpCase op : OpCases.all()) {
        List<float[]> expected = op.on(reference);
        List<float[]> found = op.on(backend);
        for (int r = 0; r < expected.size(); r++) {
          assertClose(op + ", result " + r, found.get(r), expected.get(r));
        }
      }
    }
  }

  private static void assertClose(String what, float[] found, float[] expected) {
    assertThat(found).as(what).hasSameSizeAs(expected);
    for (int i = 0; i < expected.length; i++) {
      double bound = ABSOLUTE + RELATIVE * Math.abs(expected[i]);
      if (!(Math.abs(found[i] - expected[i]) <= bound)) {
        throw new AssertionError(
            what + " at " + i + ": found " + found[i] + ", expected " + expected[i]);
      }
    }
  }
}
