package org.draftmill.operators.drafter.collective;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Members whose sums and weights lie on devices. */
@Timeout(600)
class DevicesCollectiveTest {
  private static final Duration TIMEOUT = Duration.ofMinutes(5);
  private static final int LENGTH = 1_237;

  static Stream<Arguments> groups() {
    return Stream.of(
        Arguments.of(new int[] {0, 0}, true),
        Arguments.of(new int[] {0, 0, 0, 0, 0}, true),
        Arguments.of(new int[] {0, 1}, false),
        Arguments.of(new int[] {1, 0, 0, 1}, false));
  }

  @ParameterizedTest
  @MethodSource("groups")
  void exchangeWithoutTheHostWithinAProcessAndThroughItBetweenTwo(
      int[] processes, boolean withoutHost) throws Exception {
    int size = processes.length;
    int[] bounds = new int[size + 1];
    Random random = new Random(size);
    for (int rank = 1; rank < size; rank++) {
      bounds[rank] = bounds[rank - 1] + random.nextInt(LENGTH / size);
    }
    bounds[size] = LENGTH;
    try (TestingGroup group =
        new TestingGroup(new CollectiveOptions(TIMEOUT, true, 1), processes).joined()) {
      group.all(
          member -> {
            int rank = member.rank();
            long[] values = new long[LENGTH];
            float[] numbers = new float[LENGTH];
            for (int i = 0; i < LENGTH; i++) {
              values[i] = value(rank, i);
              numbers[i] = bounds[rank] <= i && i < bounds[rank + 1] ? i + 0.5f : Float.NaN;
            }
            TestingDeviceSums sums = new TestingDeviceSums(values);
            member.reduceScatter(sums, bounds);
            for (int i = bounds[rank]; i < bounds[rank + 1]; i++) {
              long expected = 0;
              for (int other = 0; other < size; other++) {
                expected += value(other, i);
              }
              assertThat(sums.values[i]).isEqualTo(expected);
            }

            TestingDeviceWeights weights =
                new TestingDeviceWeights(numbers, bounds[rank], bounds[rank + 1]);
            member.allGather(weights, bounds);
            for (int i = 0; i < LENGTH; i++) {
              assertThat(weights.values[i]).isEqualTo(i + 0.5f);
            }
            assertThat(sums.taken > 0).isEqualTo(withoutHost);
            assertThat(weights.taken > 0).isEqualTo(withoutHost);
          });
    }
  }

  private static long value(int rank, int element) {
    return (rank + 1L) << (element % 50);
  }

  @Test
  void aPeerThatHasGivenItsMemoryBackEndsTheExchange() throws Exception {
    try (TestingGroup group =
        new TestingGroup(new CollectiveOptions(TIMEOUT, true, 1), 0, 0).joined()) {
      assertThat(
              group.failures(
                  member -> {
                    TestingDeviceSums sums = new TestingDeviceSums(1, 2, 3, 4);
                    sums.closed = member.rank() == 1;
                    member.reduceScatter(sums, new int[] {0, 2, 4});
                  }))
          .hasSize(2)
          .allSatisfy(failure -> assertThat(failure).isInstanceOf(java.io.IOException.class))
          .anySatisfy(
              failure ->
                  assertThat(failure)
                      .hasMessage(
                          "The exchange between drafters 1 and 0 ended: its memory was given back."));
    }
  }
}
