package org.draftmill.operators.drafter.collective;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

@Timeout(600)
class TcpCollectiveTest {
  private static final Duration TIMEOUT = Duration.ofMinutes(5);

  static Stream<Arguments> groups() {
    return Stream.of(
            new int[] {0},
            new int[] {0, 0},
            new int[] {0, 1},
            new int[] {0, 1, 2},
            new int[] {0, 1, 0},
            new int[] {1, 0, 0, 1},
            new int[] {0, 1, 2, 0, 1},
            new int[] {0, 0, 0, 0, 0})
        .flatMap(
            processes ->
                Stream.of(
                    Arguments.of(processes, true, 7),
                    Arguments.of(processes, false, 7),
                    Arguments.of(processes, false, 1000)));
  }

  @ParameterizedTest
  @MethodSource("groups")
  void everyMemberHoldsTheExactSums(int[] processes, boolean throughMemory, int piece)
      throws Exception {
    int size = processes.length;
    Random random = new Random(size * 31L + piece);
    try (TestingGroup group =
        new TestingGroup(new CollectiveOptions(TIMEOUT, throughMemory, piece), processes)
            .joined()) {
      for (int length : new int[] {0, 1, 3, 64, 1_237}) {
        int[] bounds = bounds(size, length, random);
        group.all(
            member -> {
              int rank = member.rank();
              long[] sums = new long[length];
              for (int i = 0; i < length; i++) {
                sums[i] = value(rank, i);
              }
              long[] few = {1, rank, Long.MAX_VALUE / 8 - rank};
              member.allReduce(few);
              assertThat(few)
                  .containsExactly(
                      size, size * (size - 1) / 2, size * (Long.MAX_VALUE / 8) - few[1]);

              member.reduceScatter(sums, bounds);
              float[] floats = new float[length];
              double[] doubles = new double[length];
              for (int i = bounds[rank]; i < bounds[rank + 1]; i++) {
                long expected = 0;
                for (int other = 0; other < size; other++) {
                  expected += value(other, i);
                }
                assertThat(sums[i]).isEqualTo(expected);
                floats[i] = i + 0.5f;
                doubles[i] = -i - 0.25;
              }
              member.allGather(floats, bounds);
              member.allGather(doubles, bounds);
              for (int i = 0; i < length; i++) {
                assertThat(floats[i]).isEqualTo(i + 0.5f);
                assertThat(doubles[i]).isEqualTo(-i - 0.25);
              }
            });
      }
      group.members.forEach(TcpCollective::close);
      assertThat(group.processes).allMatch(process -> process.open() == 0);
    }
  }

  @Test
  void largeArraysThroughBothKindsOfLinks() throws Exception {
    int length = 3_000_001;
    try (TestingGroup group = new TestingGroup(new CollectiveOptions(TIMEOUT), 0, 0, 1).joined()) {
      int[] bounds = {0, 1_000_003, 1_000_003, length};
      group.all(
          member -> {
            long[] values = new long[length];
            for (int i = 0; i < length; i++) {
              values[i] = (long) i << member.rank();
            }
            member.reduceScatter(values, bounds);
            for (int i = bounds[member.rank()]; i < bounds[member.rank() + 1]; i++) {
              assertThat(values[i]).isEqualTo(7L * i);
            }
          });
    }
  }

  /** Whoever notices says so; the other may only see that its peer left. */
  @Test
  void membersThatDisagreeAboutTheOperationFail() throws Exception {
    for (boolean throughMemory : new boolean[] {true, false}) {
      try (TestingGroup group =
          new TestingGroup(new CollectiveOptions(TIMEOUT, throughMemory, 16), 0, 0).joined()) {
        assertThat(
                group.failures(
                    member -> {
                      if (member.rank() == 0) {
                        member.allGather(new float[20], new int[] {0, 10, 20});
                      } else {
                        member.allGather(new double[20], new int[] {0, 10, 20});
                      }
                    }))
            .hasSize(2)
            .allSatisfy(failure -> assertThat(failure).isInstanceOf(java.io.IOException.class))
            .anySatisfy(
                failure -> assertThat(failure).hasMessageContaining("do not train the same step"));
      }
    }
  }

  @Test
  void boundsThatDoNotFitAreRefused() throws Exception {
    try (TestingGroup group = new TestingGroup(new CollectiveOptions(TIMEOUT), 0, 0).joined()) {
      TcpCollective member = group.members.get(0);
      assertThatThrownBy(() -> member.reduceScatter(new long[4], new int[] {0, 3}))
          .hasMessage("The bounds [0, 3] do not divide 4 values among 2 drafters.");
      assertThatThrownBy(() -> member.reduceScatter(new long[4], new int[] {0, 3, 5}))
          .isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> member.reduceScatter(new long[4], new int[] {0, 5, 4}))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  private static long value(int rank, int i) {
    return (rank + 1) * 1_000_000_007L * (i - 17);
  }

  /** Ascending, with empty parts among them. */
  private static int[] bounds(int size, int length, Random random) {
    int[] bounds = new int[size + 1];
    for (int i = 1; i < size; i++) {
      bounds[i] = random.nextInt(3) == 0 ? bounds[i - 1] : random.nextInt(length + 1);
    }
    bounds[size] = length;
    java.util.Arrays.sort(bounds);
    return bounds;
  }
}
