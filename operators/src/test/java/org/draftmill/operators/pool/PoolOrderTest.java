package org.draftmill.operators.pool;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.function.LongPredicate;
import java.util.stream.LongStream;
import org.draftmill.serializers.StepMarker;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is released in which order, whatever the timing; and that the stream always ends. */
class PoolOrderTest {

  private static final LongPredicate NONE = position -> false;

  @Test
  void theOrderIsTheSameUnderAHundredSchedules() {
    PoolSettings settings = TestingSettings.of(200, 7).minReady(6).maxReady(6).build();
    List<Long> expected = shuffled(settings, 0);
    for (int seed = 0; seed < 100; seed++) {
      var simulation = run(settings, seed, 1 + seed % 5, 3, NONE, false);
      assertThat(simulation.released(0)).as("schedule %d", seed).isEqualTo(expected);
    }
  }

  @ParameterizedTest
  @CsvSource({"2,1", "2,2", "3,1", "3,2", "5,3", "4,4"})
  void shardsKeepTheirOrderAndNoCheckpointFallsIntoAStep(int shards, int parallelism) {
    for (int accumulation : new int[] {1, 4, 9}) {
      PoolSettings settings =
          TestingSettings.of(150, accumulation)
              .minReady(3)
              .maxReady(3)
              .shards(shards, parallelism)
              .build();
      int checkpoints = 0;
      for (int seed = 0; seed < 25; seed++) {
        var simulation = run(settings, seed, 1 + seed % 5, 1 + seed % 4, NONE, true);
        checkpoints += simulation.checkpoints();
        for (int shard = 0; shard < shards; shard++) {
          assertThat(simulation.released(shard))
              .as("schedule %d", seed)
              .isEqualTo(shuffled(settings, shard));
        }
      }
      assertThat(checkpoints).isPositive();
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 5, 6, 7, 13})
  void shortListsAreReleasedWhole(long jobs) {
    for (int shards : new int[] {1, 3}) {
      PoolSettings settings =
          TestingSettings.of(jobs, 4).minReady(6).maxReady(6).shards(shards, 1).build();
      for (int seed = 0; seed < 20; seed++) {
        var simulation = run(settings, seed, 3, 4, NONE, true);
        for (int shard = 0; shard < shards; shard++) {
          assertThat(simulation.released(shard)).isEqualTo(shuffled(settings, shard));
        }
      }
    }
  }

  @Test
  void tombstonesKeepTheirTurnAndGoToNobody() {
    PoolSettings settings = TestingSettings.of(120, 5).minReady(4).maxReady(5).build();
    LongPredicate dead = position -> position % 7 == 3 || (position >= 50 && position < 65);
    long living = LongStream.range(0, 120).filter(dead.negate()).count();
    for (int seed = 0; seed < 30; seed++) {
      var simulation = run(settings, seed, 3, 2, dead, true);
      assertThat(simulation.released(0)).isEqualTo(shuffled(settings, 0));
      assertThat(simulation.takenBy()).hasSize((int) living);
    }
    assertThat(run(settings, 1, 2, 2, position -> true, true).takenBy()).isEmpty();
  }

  @Test
  void asReadyReleasesEverythingOnceAndKeepsItsLimit() {
    PoolSettings settings =
        TestingSettings.of(200, 7)
            .minReady(4)
            .maxReady(6)
            .release(ReleaseOrder.AS_READY)
            .shards(2, 1)
            .build();
    for (int seed = 0; seed < 30; seed++) {
      var simulation = run(settings, seed, 4, 3, position -> position % 9 == 0, true);
      for (int shard = 0; shard < 2; shard++) {
        int own = shard;
        assertThat(simulation.released(shard))
            .containsExactlyInAnyOrderElementsOf(
                LongStream.range(0, 200).filter(p -> p % 2 == own).boxed().toList());
      }
    }
  }

  @Test
  void aPoolThatWaitsForNoJobNeverHoldsMoreThanItsLimit() {
    PoolSettings settings = TestingSettings.of(200, 7).minReady(6).window(1).maxReady(9).build();
    for (int seed = 0; seed < 20; seed++) {
      assertThat(run(settings, seed, 1, 3, NONE, false).maxReady()).isEqualTo(9);
    }
  }

  /** Targets of equal speed that are far quicker than the drafters. */
  @ParameterizedTest
  @CsvSource({"2,1", "2,2", "4,2", "3,3"})
  void aPoolOfSeveralShardsHoldsNoMoreThanItsLimitAndWhatIsOnItsWay(int shards, int parallelism) {
    int channel = 8;
    int inFlight = 2;
    double[] targets = {50, 50};
    for (int seed = 0; seed < 10; seed++) {
      PoolSettings settings =
          TestingSettings.of(1500, 4)
              .seed(seed)
              .minReady(6)
              .maxReady(10)
              .shards(shards, parallelism)
              .build();
      var setup =
          new StreamSimulation.Setup(
              settings, targets, new double[] {0.2, 0.2}, inFlight, channel, seed % 2 == 1, NONE);
      assertThat(new StreamSimulation(setup, seed).run().maxReady())
          .as("schedule %d", seed)
          .isLessThanOrEqualTo(10 + 2 * targets.length * (channel + inFlight));
    }
  }

  @Test
  void everyDrafterGetsItsShareWhenTheyAreEquallyFast() {
    PoolSettings settings = TestingSettings.of(400, 12).minReady(5).maxReady(30).build();
    double[] equal = {1, 1, 1, 1};
    var setup = new StreamSimulation.Setup(settings, new double[] {5, 5}, equal, 2, 4, false, NONE);
    List<Integer> takenBy = new StreamSimulation(setup, 1).run().takenBy();
    for (int drafter = 0; drafter < 4; drafter++) {
      int own = drafter;
      assertThat(takenBy.stream().filter(d -> d == own).count()).isBetween(80L, 120L);
    }
  }

  /** Every interleaving of a small stream: the pool never waits for what it keeps out. */
  @ParameterizedTest
  @CsvSource({"1,3", "2,1", "2,2", "3,1"})
  void noInterleavingEndsBeforeTheEnd(int targets, int jobsInFlight) {
    for (int seed = 0; seed < 10; seed++) {
      PoolSettings settings = TestingSettings.of(9, 4).seed(seed).minReady(3).maxReady(3).build();
      assertThat(new Interleavings(settings, targets, jobsInFlight).explore()).isGreaterThan(20);
    }
  }

  private static StreamSimulation run(
      PoolSettings settings,
      long seed,
      int targets,
      int drafters,
      LongPredicate tombstone,
      boolean checkpoints) {
    Random random = new Random(seed);
    double[] speeds = random.doubles(targets, 0.5, 2).toArray();
    if (targets > 1) {
      speeds[random.nextInt(targets)] /= 50;
    }
    double[] drafterSpeeds = random.doubles(drafters, 0.05, 2).toArray();
    var setup =
        new StreamSimulation.Setup(
            settings,
            speeds,
            drafterSpeeds,
            1 + random.nextInt(4),
            1 + random.nextInt(3),
            checkpoints,
            tombstone);
    return new StreamSimulation(setup, seed).run();
  }

  /** The order as the contract words it, written as plainly as can be. */
  static List<Long> shuffled(PoolSettings settings, int shard) {
    List<Long> left =
        new ArrayList<>(
            LongStream.range(0, settings.run().jobs())
                .filter(position -> position % settings.shards() == shard)
                .boxed()
                .toList());
    List<Long> order = new ArrayList<>();
    while (!left.isEmpty()) {
      int candidates = Math.min(settings.window(), left.size());
      int drawn = ReleasePolicy.draw(settings.run().seed(), shard, order.size(), candidates);
      order.add(left.remove(drawn));
    }
    return order;
  }

  /** All states that a pool and its targets can come to when drafters ask whenever they like. */
  private static final class Interleavings {
    private final PoolSettings settings;
    private final int targets;
    private final int jobsInFlight;
    private final Set<String> seen = new HashSet<>();

    Interleavings(PoolSettings settings, int targets, int jobsInFlight) {
      this.settings = settings;
      this.targets = targets;
      this.jobsInFlight = jobsInFlight;
    }

    int explore() {
      explore(new int[0]);
      return seen.size();
    }

    /** Moves: target t pulls (t), target t emits (targets + t), a drafter is served (2·targets). */
    private void explore(int[] moves) {
      State state = new State();
      for (int move : moves) {
        state.make(move);
      }
      if (!seen.add(state.toString())) {
        return;
      }
      boolean stuck = true;
      for (int move = 0; move <= 2 * targets; move++) {
        if (state.allows(move)) {
          stuck = false;
          int[] longer = Arrays.copyOf(moves, moves.length + 1);
          longer[moves.length] = move;
          explore(longer);
        }
      }
      if (stuck) {
        assertThat(state.released).as(state.toString()).isEqualTo(shuffled(settings, 0));
        assertThat(state.pool.isDone()).isTrue();
      }
    }

    private final class State implements Pool.Outlet {
      private final Pool pool = new Pool(List.of(new PoolShard(0, settings)), true, this);
      private final List<List<Long>> inFlight = new ArrayList<>();
      private final List<Long> released = new ArrayList<>();
      private final Set<Long> arrived = new HashSet<>();
      private long next;

      State() {
        for (int t = 0; t < targets; t++) {
          inFlight.add(new ArrayList<>());
        }
        pool.know(Gate.CLOSED);
      }

      boolean allows(int move) {
        if (move < targets) {
          return next < settings.run().jobs() && inFlight.get(move).size() < jobsInFlight;
        }
        if (move < 2 * targets) {
          return !inFlight.get(move - targets).isEmpty() && !pool.mayHoldBackInput();
        }
        return pool.offers();
      }

      void make(int move) {
        if (move < targets) {
          inFlight.get(move).add(next++);
        } else if (move < 2 * targets) {
          long position = inFlight.get(move - targets).remove(0);
          arrived.add(position);
          TestingChunks.of(position).forEach(chunk -> pool.add(0, chunk));
        } else {
          assertThat(pool.serve(new Demand(0, 0, released.size()))).isTrue();
        }
      }

      @Override
      public void held(int shard, HeldMicrobatch microbatch) {}

      @Override
      public void send(int drafter, long step, HeldMicrobatch microbatch) {}

      @Override
      public void send(StepMarker marker) {}

      @Override
      public void released(int shard, HeldMicrobatch microbatch) {
        released.add(microbatch.job().position());
      }

      @Override
      public String toString() {
        return "in flight " + inFlight + ", arrived " + arrived + ", released " + released;
      }
    }
  }
}
