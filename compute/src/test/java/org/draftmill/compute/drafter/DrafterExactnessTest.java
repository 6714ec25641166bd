package org.draftmill.compute.drafter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import org.draftmill.compute.InputException;
import org.draftmill.compute.host.HostMasters;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The bits of the weights do not depend on who took what, in which order, on how many threads. */
class DrafterExactnessTest {
  @Test
  void anyNumberOfDraftersInAnyOrderGivesTheSameWeights() throws Exception {
    List<StepFigures> alone = new ArrayList<>();
    String expected = ShuffledTraining.train(1, 1, null, alone).get(0);
    assertThat(new Shards(new ParameterLayout(ShuffledTraining.CONFIG).size(), 1).blocks())
        .isGreaterThan(1);
    for (int size = 1; size <= 5; size++) {
      for (int trial = 0; trial < 2; trial++) {
        int threads = 1 + (2 * size + trial) % 8;
        List<StepFigures> figures = new ArrayList<>();
        List<String> hashes =
            ShuffledTraining.train(size, threads, new Random(size * 10L + trial), figures);
        assertThat(hashes).as("%d drafters, %d threads", size, threads).containsOnly(expected);
        for (int step = 0; step < ShuffledTraining.STEPS; step++) {
          assertThat(figures.get(step))
              .usingRecursiveComparison()
              .ignoringFields("reduceSeconds", "optimizerSeconds")
              .isEqualTo(alone.get(step));
        }
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8})
  void anyNumberOfThreadsInAnyOrderGivesTheSameWeights(int threads) throws Exception {
    String expected = ShuffledTraining.train(1, 1, null, new ArrayList<>()).get(0);

    assertThat(ShuffledTraining.train(1, threads, new Random(threads), new ArrayList<>()))
        .containsOnly(expected);
  }

  @Test
  void drafterWithOtherWeightsIsNoticed() {
    float[][] weights = {{1, 2, 3}, {1, 2, 4}};
    assertThatThrownBy(
            () ->
                together(
                    member ->
                        WeightAgreement.check(
                            member, 17, new HostMasters(weights[member.rank()], 0, 3))))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("After step 17 the drafters [1] hold other weights than drafter 0");
  }

  @Test
  void drafterThatComputesByOtherMeansIsRefused() {
    List<String> means = List.of("cuda 90, own products", "cpu");
    assertThatThrownBy(
            () ->
                together(
                    member -> WeightAgreement.requireSameMeans(member, means.get(member.rank()))))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("The drafters [1] compute by other means than drafter 0")
        .hasMessageContaining("run.products");
  }

  /** What two drafters do at the same time. */
  private interface Act {
    void with(Collective member) throws Exception;
  }

  private static void together(Act act) throws Exception {
    List<Callable<Void>> tasks = new ArrayList<>();
    for (Collective member : TestingCollective.group(2)) {
      tasks.add(
          () -> {
            act.with(member);
            return null;
          });
    }
    TestingCollective.together(tasks);
  }
}
