package org.draftmill.compute.drafter;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.draftmill.compute.Backends;
import org.draftmill.compute.cuda.CudaEmulator;
import org.draftmill.compute.host.PoisonedMemory;
import org.draftmill.compute.ops.Backend;
import org.draftmill.compute.ops.Workspace;
import org.draftmill.compute.target.Taps;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Forward and backward of the drafter on a GPU, as near to fp64 autograd as bf16 allows. */
@ExtendWith({CudaEmulator.class, PoisonedMemory.class})
class DrafterOnCudaTest {
  private static final double FORWARD = 0x1p-5;
  private static final double BACKWARD = 0x1p-4;

  static Stream<String> cases() {
    return ReferenceCase.NAMES.stream();
  }

  @ParameterizedTest
  @MethodSource("cases")
  void contextLogitsLossesAndGradientsAreThoseOfAutograd(String name) {
    try (Backend backend = Backends.open("cuda", 1)) {
      DrafterReferenceTest.compare(backend, name, FORWARD, BACKWARD);
    }
  }

  @Test
  void twoDraftersGiveTheWeightsOfOne() throws Exception {
    List<String> alone = train(new int[][] {{0, 1, 2}}, new int[][] {{3}});
    List<String> together = train(new int[][] {{2}, {1, 0}}, new int[][] {{}, {3}});
    assertThat(together).containsOnly(alone.get(0));
  }

  /** Two steps; for each the microbatches that each drafter takes. */
  private static List<String> train(int[][] first, int[][] second) throws Exception {
    List<Callable<String>> tasks = new ArrayList<>();
    for (Collective member : TestingCollective.group(first.length)) {
      tasks.add(() -> drafter(member, first[member.rank()], second[member.rank()]));
    }
    return TestingCollective.together(tasks);
  }

  private static String drafter(Collective member, int[]... steps) throws IOException {
    DrafterConfig config = TestingDrafters.config(2, Taps.of(1, 4), 4);
    float[] weights = new Initializer(5).weights(config, new ParameterLayout(config));
    try (Backend backend = Backends.open("cuda", 1);
        Workspace workspace = backend.workspace();
        DrafterTrainer trainer =
            new DrafterTrainer(
                backend,
                TestingDrafters.model(backend, workspace, config, weights),
                TestingDrafters.settings(config, 3, 40),
                weights,
                member.rank(),
                member.size())) {
      for (int[] microbatches : steps) {
        for (int m : microbatches) {
          trainer.accumulate(TestingMicrobatches.random(config, m, 5 + m, 9));
        }
        assertThat(trainer.step(member).skipped()).isFalse();
      }
      String hash = trainer.weightsSha256(); // waits for all that was given to the device
      DeviceSeconds seconds = trainer.deviceSeconds();
      assertThat(seconds.forward()).isPositive();
      assertThat(seconds.backward()).isPositive();
      assertThat(seconds.optimizer()).isPositive();
      return hash;
    }
  }
}
