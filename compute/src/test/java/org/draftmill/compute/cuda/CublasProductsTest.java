package org.draftmill.compute.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.Random;
import org.draftmill.compute.Backends;
import org.draftmill.compute.InputException;
import org.draftmill.compute.cuda.CudaEmulator.Kind;
import org.draftmill.compute.ops.Backend;
import org.draftmill.compute.ops.Matrix;
import org.draftmill.compute.ops.Weight;
import org.draftmill.compute.ops.Workspace;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** When cuBLAS multiplies, what it holds, and what is said where it is not there. */
@ExtendWith(CudaEmulator.class)
class CublasProductsTest {
  private static final int ROWS = 33;
  private static final int INPUTS = 70;
  private static final int OUTPUTS = 41;

  /** Whether this machine, or the emulator, has the library. */
  static boolean isThere() {
    try (CudaBackend backend = CudaBackend.open(0, MatrixProducts.AUTO)) {
      return backend.arithmetic().contains("cuBLAS");
    }
  }

  @Test
  void aRunIsPinnedToWhatMultiplies() {
    assumeTrue(isThere(), "libcublas.so.12 was not found");
    try (Backend own = Backends.open("cuda", 1, 0);
        Backend cublas = Backends.open("cuda", 1, 0, MatrixProducts.CUBLAS)) {
      assertThat(own.arithmetic()).matches("cuda \\d+, own products");
      assertThat(cublas.arithmetic()).matches("cuda \\d+, cuBLAS \\d+\\.\\d+\\.\\d+ on .+");
    }
  }

  @Test
  @Tag(CudaEmulator.TAG)
  void aLibraryThatDoesNotStartIsNamedOrDoneWithout() {
    CudaEmulator.setLibrary(false);
    assertThatThrownBy(() -> CudaBackend.open(0, MatrixProducts.CUBLAS))
        .isInstanceOf(InputException.class)
        .hasMessageStartingWith("Matrix products by 'cublas' were asked for on GPU 0 (Emulated GPU")
        .hasMessageContaining("does not start on this GPU: CUBLAS_STATUS_NOT_INITIALIZED (1)")
        .hasMessageContaining("'own' need no library");
    assertThat(CudaEmulator.live(Kind.CONTEXTS)).isZero();
    try (Backend backend = CudaBackend.open(0, MatrixProducts.AUTO)) {
      assertThat(backend.arithmetic()).isEqualTo("cuda 80, own products");
    }
  }

  @Test
  void aMissingLibraryIsNamed() {
    String loader = "libcublas.so.12: cannot open shared object file: No such file or directory";
    assertThat(CublasBinding.reason(new UnsatisfiedLinkError(loader)))
        .startsWith("libcublas.so.12 was not found")
        .contains("LD_LIBRARY_PATH");
    assertThat(CublasBinding.reason(new ClassNotFoundException("jcuda.jcublas.JCublas2")))
        .contains("belong into Flink's lib/")
        .contains("jcuda.jcublas.JCublas2");
  }

  @Test
  void handlesAreGivenBack() {
    assumeTrue(isThere(), "libcublas.so.12 was not found");
    for (int i = 0; i < 20; i++) {
      try (CudaBackend backend = CudaBackend.open(0, MatrixProducts.CUBLAS)) {
        assertThat(product(backend, new Random(i))).hasSize(ROWS * OUTPUTS);
      }
    }
    for (Kind kind : Kind.values()) {
      assertThat(CudaEmulator.live(kind)).as("%s", kind).isZero();
    }
  }

  @Test
  void theSameShapeGivesTheSameBitsWithoutNewMemory() {
    assumeTrue(isThere(), "libcublas.so.12 was not found");
    try (CudaBackend backend = CudaBackend.open(0, MatrixProducts.CUBLAS)) {
      float[] first = product(backend, new Random(3));
      long held = backend.bytesHeld();
      assertThat(held).isGreaterThan(4L << 20); // the library's workspace
      long allocations = CudaEmulator.live(Kind.MEMORY);
      for (int i = 0; i < 3; i++) {
        assertThat(product(backend, new Random(3))).isEqualTo(first);
      }
      assertThat(backend.bytesHeld()).isEqualTo(held);
      assertThat(CudaEmulator.live(Kind.MEMORY)).isEqualTo(allocations);
    }
  }

  /** A product is done when somebody waits for it; that nobody wrote what it reads shows then. */
  @Test
  @Tag(CudaEmulator.TAG)
  void refusesWhatNobodyWrote() {
    try (CudaBackend backend = CudaBackend.open(0, MatrixProducts.CUBLAS);
        Workspace memory = backend.workspace()) {
      Matrix dW = memory.matrix(3, 4); // to be added to, and never written
      Matrix ones = memory.matrix(2, 3, new float[] {1, 1, 1, 1, 1, 1});
      Matrix x = memory.matrix(2, 4, new float[8]);
      assertThatThrownBy(
              () -> {
                backend.ops().linearBackwardWeight(ones, x, dW);
                dW.toArray();
              })
          .isInstanceOf(CudaFailure.class)
          .hasMessageContaining("never written");
    }
  }

  private static float[] product(CudaBackend backend, Random random) {
    try (Workspace memory = backend.workspace()) {
      Matrix x = memory.matrix(ROWS, INPUTS, values(random, ROWS * INPUTS));
      Matrix weight = memory.matrix(OUTPUTS, INPUTS, values(random, OUTPUTS * INPUTS));
      Weight w = memory.arrange(weight);
      Matrix out = memory.matrix(ROWS, OUTPUTS);
      backend.ops().linear(x, w, out);
      return out.toArray();
    }
  }

  private static float[] values(Random random, int count) {
    float[] values = new float[count];
    for (int i = 0; i < count; i++) {
      values[i] = (float) random.nextGaussian();
    }
    return values;
  }
}
