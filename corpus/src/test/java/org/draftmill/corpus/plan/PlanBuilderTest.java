package org.draftmill.corpus.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.stream.IntStream;
import org.draftmill.corpus.Fingerprint;
import org.draftmill.corpus.InputException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PlanBuilderTest {
  static final Fingerprint DATASET = new Fingerprint("0123456789abcdef".repeat(4));

  private static final BucketBounds BOUNDS = BucketBounds.parse("10,100,1000");

  private static PlanOptions options(long seed, int budget, Oversized oversized) {
    return new PlanOptions(seed, 2, budget, BOUNDS, oversized);
  }

  private static PlannedEpoch plan(int[] lengths, PlanOptions options, int epoch) {
    return new PlanBuilder(lengths, DATASET, options).epoch(epoch);
  }

  /** Lengths whose logarithm is uniform, so that every bucket gets some. */
  static int[] lengths(long seed, int count, int longest) {
    SplitMix64 random = SplitMix64.of(seed);
    return IntStream.range(0, count)
        .map(i -> (int) Math.exp(random.nextInt(1_000_000) / 1e6 * Math.log(longest)))
        .map(length -> Math.max(1, length))
        .toArray();
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
  void everySequenceIsInExactlyOneJobWithinTheBudgetAndOneBucket(long seed) {
    int[] lengths = lengths(seed, 500 + (int) seed, 3_000);
    PlanOptions options = options(seed, 1_500, Oversized.OWN_JOB);

    PlannedEpoch epoch = plan(lengths, options, 0);

    int[] seen = new int[lengths.length];
    for (int job = 0; job < epoch.jobs(); job++) {
      Job record = epoch.job(job);
      int tokens = 0;
      for (long id : record.sequences()) {
        seen[(int) id]++;
        tokens += lengths[(int) id];
        assertThat(BOUNDS.bucketOf(lengths[(int) id])).isEqualTo(record.bucket());
      }
      assertThat(record.tokens()).isEqualTo(tokens);
      assertThat(record.sequences()).isNotEmpty();
      assertThat(tokens <= 1_500 || record.sequences().length == 1).isTrue();
    }
    assertThat(seen).containsOnly(1);
  }

  @Test
  void allButTheLastBatchOfABucketAreFull() {
    int[] lengths = lengths(5, 2_000, 900);

    PlannedEpoch epoch = plan(lengths, options(5, 1_000, Oversized.OWN_JOB), 0);

    int[] partial = new int[BOUNDS.buckets()];
    for (int job = 0; job < epoch.jobs(); job++) {
      int bucket = epoch.bucket(job);
      int longest = bucket < 3 ? BOUNDS.upper().get(bucket) : 900;
      if (epoch.tokens(job) + longest <= 1_000) {
        partial[bucket]++;
      }
    }
    assertThat(Arrays.stream(partial)).allMatch(count -> count <= 1);
  }

  @Test
  void theSameInputGivesTheSameListAndAnyOtherAnother() {
    int[] lengths = lengths(1, 300, 900);
    PlanOptions options = options(1, 1_000, Oversized.OWN_JOB);
    String list = list(plan(lengths, options, 0));

    assertThat(list(plan(lengths.clone(), options, 0))).isEqualTo(list);
    assertThat(list(plan(lengths, options, 1))).isNotEqualTo(list);
    assertThat(list(plan(lengths, options(2, 1_000, Oversized.OWN_JOB), 0))).isNotEqualTo(list);
    Fingerprint other = new Fingerprint("f123456789abcdef".repeat(4));
    assertThat(list(new PlanBuilder(lengths, other, options).epoch(0))).isNotEqualTo(list);
  }

  private static String list(PlannedEpoch epoch) {
    return IntStream.range(0, epoch.jobs())
        .mapToObj(job -> Arrays.toString(epoch.job(job).sequences()))
        .toList()
        .toString();
  }

  @Test
  void aSequenceLongerThanTheBudgetIsItsOwnJobAndLeavesTheOthersTogether() {
    int[] lengths = {40, 2_000, 40, 1_001, 1_000};

    PlannedEpoch epoch = plan(lengths, options(0, 1_000, Oversized.OWN_JOB), 0);

    assertThat(IntStream.range(0, epoch.jobs()).map(epoch::tokens))
        .containsExactlyInAnyOrder(80, 2_000, 1_001, 1_000);
  }

  @Test
  void aSequenceLongerThanTheBudgetIsLeftOutWhenAskedFor() {
    int[] lengths = {40, 2_000, 40, 1_001, 1_000};

    PlannedEpoch epoch = plan(lengths, options(0, 1_000, Oversized.REJECT), 0);

    assertThat(IntStream.range(0, epoch.jobs()).map(epoch::tokens))
        .containsExactlyInAnyOrder(80, 1_000);
    assertThat(epoch.sequences()).isEqualTo(3);
  }

  /**
   * A bucket of one job in a thousand must not gather at the end: over many seeds its jobs fall
   * into the last twentieth of the list as often as chance has it, the partial batch included.
   */
  @Test
  void theTailHoldsEveryBucketsShare() {
    int seeds = 400;
    int[] lengths = new int[3_000];
    Arrays.fill(lengths, 50);
    Arrays.fill(lengths, 0, 45, 5); // bucket 0: 45 sequences make two jobs of 20 and one of 5
    Arrays.fill(lengths, 45, 60, 101); // bucket 2: 15 jobs of one sequence
    int[] inTail = new int[BOUNDS.buckets()];
    int[] all = new int[BOUNDS.buckets()];
    int partialInTail = 0;
    for (int seed = 0; seed < seeds; seed++) {
      PlannedEpoch epoch = plan(lengths, options(seed, 110, Oversized.OWN_JOB), 0);
      int tail = epoch.jobs() - epoch.jobs() / 20;
      for (int job = 0; job < epoch.jobs(); job++) {
        all[epoch.bucket(job)]++;
        if (job >= tail) {
          inTail[epoch.bucket(job)]++;
          partialInTail += epoch.bucket(job) == 0 && epoch.size(job) < 20 ? 1 : 0;
        }
      }
    }
    for (int bucket : new int[] {0, 1, 2}) {
      double share = 0.05 * all[bucket];
      assertThat(Math.abs(inTail[bucket] - share))
          .as("jobs of bucket %d in the tail: %d, expected %.0f", bucket, inTail[bucket], share)
          .isLessThan(4 * Math.sqrt(share));
    }
    assertThat(partialInTail).isBetween(4, 40); // 400 lists, one in twenty: 20 with deviation 4.4
  }

  @Test
  void aDatasetWithoutSequencesOrWithAnEmptyOneIsRefused() {
    PlanOptions options = options(0, 100, Oversized.REJECT);

    assertThatThrownBy(() -> plan(new int[0], options, 0))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("no sequences");
    assertThatThrownBy(() -> plan(new int[] {3, 0}, options, 0))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("Sequence 1");
    assertThatThrownBy(() -> plan(new int[] {101}, options, 0))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("raise the budget");
  }
}
