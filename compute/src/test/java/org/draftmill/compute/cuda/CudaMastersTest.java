package org.draftmill.compute.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.draftmill.compute.OpCases.OpCase;
import org.draftmill.compute.StepCases;
import org.draftmill.compute.host.HostExactSums;
import org.draftmill.compute.host.HostMasters;
import org.draftmill.compute.host.PoisonedMemory;
import org.draftmill.compute.ops.AdamW;
import org.draftmill.compute.ops.ExactSums;
import org.draftmill.compute.ops.Masters;
import org.draftmill.compute.ops.Matrix;
import org.draftmill.compute.ops.Workspace;
import org.draftmill.compute.reference.ReferenceBackend;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@ExtendWith({CudaEmulator.class, PoisonedMemory.class})
class CudaMastersTest {
  private CudaBackend backend;

  @BeforeEach
  void open() {
    backend = CudaBackend.open(0, 1 << 14);
  }

  @AfterEach
  void close() {
    assertThat(CudaEmulator.live(CudaEmulator.Kind.MEMORY)).isLessThanOrEqualTo(2);
    backend.close();
  }

  static Stream<OpCase> cases() {
    return StepCases.all().stream();
  }

  @ParameterizedTest
  @MethodSource("cases")
  void theBitsAreTheHosts(OpCase step) {
    try (ReferenceBackend host = new ReferenceBackend()) {
      List<float[]> expected = step.on(host);
      List<float[]> found = step.on(backend);
      for (int r = 0; r < expected.size(); r++) {
        assertThat(found.get(r)).as("result %d", r).isEqualTo(expected.get(r));
      }
    }
  }

  /** Gradients that overflow, moments that are not finite, and values below the normal ones. */
  @Test
  void whatIsNotFiniteOrTinyBecomesWhatItBecomesOnTheHost() {
    float[] odd = {0f, -0f, 1e-40f, -3e-39f, 3e38f, -3e38f, 1 / 0f, -1 / 0f, Float.NaN, 1f, 1e-20f};
    int size = odd.length * odd.length;
    float[] weights = new float[size];
    float[] moments = new float[size];
    long[] values = new long[size];
    for (int i = 0; i < size; i++) {
      weights[i] = odd[i % odd.length];
      moments[i] = odd[i / odd.length];
      values[i] = new Random(i).nextLong();
    }
    try (Masters masters = backend.masters(weights, 0, size);
        ExactSums sums = backend.exactSums(size);
        Masters host = new HostMasters(weights.clone(), 0, size);
        ExactSums hostSums = new HostExactSums(size)) {
      sums.write(values);
      hostSums.write(values);
      masters.writeMoments(moments, moments);
      host.writeMoments(moments, moments);
      for (double factor : new double[] {0x1p-70, 1e30, 0x1p-200}) {
        AdamW adamW = AdamW.of(1e-3, 0.9, 0.95, 1e-8, 0.1, 3);
        masters.update(sums, factor, adamW, 0, size);
        host.update(hostSums, factor, adamW, 0, size);
        assertThat(masters.toHost(0, size)).isEqualTo(host.toHost(0, size));
        float[][] found = new float[2][size];
        float[][] expected = new float[2][size];
        masters.readMoments(found[0], found[1]);
        host.readMoments(expected[0], expected[1]);
        assertThat(found[0]).isEqualTo(expected[0]);
        assertThat(found[1]).isEqualTo(expected[1]);
      }
    }
  }

  @Test
  void viewsAreTheWeightsThemselves() {
    float[] weights = new float[40];
    for (int i = 0; i < weights.length; i++) {
      weights[i] = i;
    }
    try (Masters masters = backend.masters(weights, 0, 40);
        Workspace memory = backend.workspace()) {
      Matrix view = masters.view(7, 3, 11); // its rows begin at no multiple of 16 bytes
      Matrix copy = memory.matrix(3, 11);
      backend.ops().copyIntoColumns(view, copy, 0);
      assertThat(copy.toArray()).startsWith(7, 8).endsWith(38, 39);
      weights[8] = -1;
      weights[9] = -1;
      masters.write(weights, 8, 9);
      assertThat(view.toArray()).startsWith(7, -1, 9);
      assertThat(masters.toHost(8, 10)[8]).isEqualTo(-1);
      masters.write(masters.toHost(0, 40), 0, 40);
      assertThat(view.toArray()).startsWith(7, -1, 9);
      assertThatThrownBy(() -> masters.view(8, 3, 11))
          .isInstanceOf(IndexOutOfBoundsException.class)
          .hasMessage("a matrix of 3 x 11 does not lie in 40 weights from 8 on");
    }
  }

  @Test
  void refuseWhatIsNotTheirs() {
    int size = Masters.BLOCK + 1;
    try (Masters masters = backend.masters(new float[size], Masters.BLOCK, size);
        ExactSums sums = backend.exactSums(size);
        ExactSums fewer = backend.exactSums(size - 1)) {
      AdamW adamW = AdamW.of(1e-3, 0.9, 0.95, 1e-8, 0, 1);
      assertThatThrownBy(() -> masters.update(sums, 1, adamW, size - 2, size))
          .isInstanceOf(IndexOutOfBoundsException.class)
          .hasMessage("the elements 65535 to 65537 are not of the shard from 65536 to 65537");
      assertThatThrownBy(() -> masters.update(fewer, 1, adamW, size - 1, size))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("65536 sums cannot update 65537 weights");
      assertThatThrownBy(() -> masters.update(new HostExactSums(size), 1, adamW, size - 1, size))
          .isInstanceOf(IllegalArgumentException.class);
      masters.close();
      assertThatThrownBy(() -> masters.toHost(0, 1)).isInstanceOf(IllegalStateException.class);
    }
  }
}
