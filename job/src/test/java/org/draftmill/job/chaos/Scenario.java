package org.draftmill.job.chaos;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;

/**
 * A disturbed run, all of it from a seed: how parallel its stages are, and when it is killed by
 * what. What a seed cannot fix is time: which record is where when the moment is met.
 */
record Scenario(
    long seed,
    int targets,
    int drafters,
    int shards,
    int poolSubtasks,
    long checkpointMillis,
    List<Strike> strikes) {
  static final int MOST_STRIKES = 5;
  static final int MOST_SHARDS = 3;

  /** Slots that any scenario takes at most. */
  static final int MOST_SLOTS = 3 + 3 + MOST_SHARDS;

  Scenario {
    strikes = List.copyOf(strikes);
  }

  /** The scenario of a seed; seeds that follow each other begin with one moment after the other. */
  static Scenario of(long seed) {
    Random random = new Random(seed * 0x9E3779B97F4A7C15L);
    int shards = 1 + random.nextInt(MOST_SHARDS);
    Moment[] moments = Moment.values();
    List<Strike> strikes = new ArrayList<>();
    int count = 1 + random.nextInt(MOST_STRIKES);
    for (int i = 0; i < count; i++) {
      int moment = random.nextInt(moments.length);
      strikes.add(strike(moments[i == 0 ? Math.floorMod(seed, moments.length) : moment], random));
    }
    // Tasks only restore when something was killed before.
    if (strikes.get(0).moment() == Moment.RESTORING) {
      strikes.add(strike(Moment.TARGET_IN_JOB, random));
    }
    strikes.sort(Comparator.comparingDouble(Strike::notBefore));
    return new Scenario(
        seed,
        2 + random.nextInt(2),
        random.nextInt(4) == 0 ? 3 : 2,
        shards,
        1 + random.nextInt(shards),
        50 + random.nextInt(200),
        strikes);
  }

  private static Strike strike(Moment moment, Random random) {
    double notBefore =
        switch (moment) {
          case POOL_FILLING -> 0;
          case POOL_DRAINING -> 0.9;
          case END_OF_EPOCH -> random.nextInt(ChaosRun.EPOCHS) / (double) ChaosRun.EPOCHS + 0.2;
          // Targets run ahead of the pool, and end before it.
          case SOURCE_READING, TARGET_IN_JOB -> 0.12 * random.nextDouble();
          default -> 0.85 * random.nextDouble();
        };
    return new Strike(
        moment,
        weapon(moment, random),
        notBefore,
        moment == Moment.POOL_FILLING || notBefore >= 0.86 ? 0 : random.nextInt(40),
        random.nextInt(1 << 20));
  }

  private static Weapon weapon(Moment moment, Random random) {
    if (moment == Moment.JOB_MANAGER_IN_CHECKPOINT) {
      return Weapon.JOB_MASTER;
    }
    int draw = random.nextInt(100);
    return draw < 50 ? Weapon.TASK_MANAGER : draw < 85 ? Weapon.TASK : Weapon.JOB_MASTER;
  }

  @Override
  public String toString() {
    return "seed %d: %d targets, %d drafters, %d shards in %d, a checkpoint every %d ms, %s"
        .formatted(seed, targets, drafters, shards, poolSubtasks, checkpointMillis, strikes);
  }
}
