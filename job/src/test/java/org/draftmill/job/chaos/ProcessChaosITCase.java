package org.draftmill.job.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.LongStream;
import org.awaitility.Awaitility;
import org.draftmill.job.chaos.ProcessStrike.Moment;
import org.draftmill.job.chaos.ProcessStrike.Victim;
import org.draftmill.job.cluster.ClusterSpec;
import org.draftmill.job.cluster.TestingCluster;
import org.draftmill.job.train.ResolvedRun;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Runs on a JobManager, TaskManagers and a ZooKeeper in processes of their own, of which some are
 * killed by SIGKILL. {@value #SEED} runs one of them alone.
 */
@Tag("chaos")
@Timeout(1800)
class ProcessChaosITCase {
  static final String SEED = "draftmill.chaos.process.seed";
  private static final int MANY = 8;
  private static final String LENGTH = "jobs.epochs=12";
  private static final String DRAIN = "pool.max-ready=200";

  /** A cluster goes on handing out the slots of a dead TaskManager for a while. */
  private static final String RESTARTS = "run.restart-delay=1s";

  private static final Duration PATIENCE = Duration.ofMinutes(2);
  private static final Duration LONGEST_RUN = Duration.ofMinutes(15);
  private static final Scenario STAGES = new Scenario(0, 2, 2, 1, 1, 500, List.of());

  private static final int TRIES = 3;

  /** The part of a run after which a moment is given up, so that those that follow have theirs. */
  private static final double LATE = 0.4;

  @TempDir static Path home;
  private static final Map<Moment, Integer> KILLS = new EnumMap<>(Moment.class);
  private static TestingCluster cluster;
  private static ChaosRun runs;
  private static Evidence calm;
  private static int survived;

  static LongStream seeds() {
    Long one = Long.getLong(SEED);
    return one == null ? LongStream.rangeClosed(1, MANY) : LongStream.of(one);
  }

  @BeforeAll
  static void start() throws Exception {
    runs = ChaosRun.in(home);
    ChaosCluster embedded = ChaosCluster.start(Scenario.MOST_SLOTS);
    try {
      ResolvedRun run = runs.of("calm", STAGES, LENGTH, DRAIN);
      embedded
          .result(embedded.submit(ChaosRun.graph(run)))
          .toJobExecutionResult(ProcessChaosITCase.class.getClassLoader());
      calm = Evidence.of(run);
    } finally {
      embedded.close();
    }
    cluster = TestingCluster.start("chaos", ClusterSpec.of(2, 4).highlyAvailable());
  }

  @AfterAll
  static void stop() throws Exception {
    System.out.printf(
        "chaos on processes: %d runs, %d SIGKILLs %s, %d survived with equal weights%n",
        seeds().count(), KILLS.values().stream().mapToInt(n -> n).sum(), KILLS, survived);
    if (cluster != null) {
      cluster.close();
    }
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void endsWithTheWeightsOfTheUndisturbedRun(long seed) throws Exception {
    int kills = 0;
    // The run does not wait for its killer, who may be the one that is not given a processor.
    for (int tries = 1; tries <= TRIES && kills == 0; tries++) {
      kills = survive("seed-" + seed + "-" + tries, strikes(seed));
    }
    assertThat(kills).as("kills").isPositive();
    survived++;
  }

  /** The number of strikes that hit. */
  private static int survive(String name, List<ProcessStrike> strikes) throws Exception {
    ResolvedRun run = runs.of(name, STAGES, LENGTH, DRAIN);
    String job =
        cluster.submit(
            "--config",
            runs.file(name, STAGES).toString(),
            "-D",
            LENGTH,
            "-D",
            DRAIN,
            "-D",
            RESTARTS);
    ProcessRun live = new ProcessRun(cluster.rest(), job, run);
    int hit = 0;
    long start = System.nanoTime();
    for (ProcessStrike strike : strikes) {
      boolean seen = await(live, strike);
      System.out.printf(
          "%s, %.0f s: %s %s, step %d%n",
          name,
          (System.nanoTime() - start) / 1e9,
          strike,
          seen ? "kills" : "came too late",
          live.step());
      if (seen) {
        kill(strike);
        KILLS.merge(strike.moment(), 1, Integer::sum);
        hit++;
        awaitGoesOn(live);
      }
    }
    Awaitility.await().atMost(LONGEST_RUN).pollInterval(Duration.ofMillis(200)).until(live::isOver);
    System.out.printf("%s ended after %.0f s%n", name, (System.nanoTime() - start) / 1e9);

    Evidence found = Evidence.of(run);
    assertThat(found.steps()).as(strikes.toString()).isEqualTo(calm.steps());
    assertThat(found).as(strikes.toString()).isEqualTo(calm);
    return hit;
  }

  private static List<ProcessStrike> strikes(long seed) {
    Random random = new Random(seed * 0x9E3779B97F4A7C15L);
    Moment[] moments = Moment.values();
    List<ProcessStrike> strikes = new ArrayList<>();
    int count = 1 + random.nextInt(4);
    for (int i = 0; i < count; i++) {
      Moment moment = moments[i == 0 ? Math.floorMod(seed, moments.length) : random.nextInt(6)];
      double notBefore =
          switch (moment) {
            case STARTING -> 0;
            case DRAINING, LAST_STEPS -> 0.9;
            default -> 0.8 * random.nextDouble();
          };
      strikes.add(
          new ProcessStrike(
              moment,
              random.nextInt(3) == 0 ? Victim.JOB_MANAGER : Victim.TASK_MANAGER,
              notBefore,
              moment == Moment.TRAINING ? random.nextInt(500) : 0,
              random.nextInt(1000)));
    }
    strikes.sort(Comparator.comparingDouble(ProcessStrike::notBefore));
    return strikes;
  }

  /** False if the run ended before, or the moment did not come in time. */
  private static boolean await(ProcessRun live, ProcessStrike strike) throws Exception {
    long looks = 0;
    while (live.progress() < strike.notBefore()) {
      if (++looks % 50 == 0 && live.isOver()) {
        return false;
      }
      Thread.sleep(5);
    }
    Thread.sleep(strike.delayMillis());
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (!live.isAt(strike.moment())) {
      if ((++looks % 50 == 0 && live.isOver())
          || live.progress() > strike.notBefore() + LATE
          || System.nanoTime() > deadline) {
        return false;
      }
      Thread.sleep(1);
    }
    return true;
  }

  private static void kill(ProcessStrike strike) throws Exception {
    if (strike.victim() == Victim.JOB_MANAGER) {
      cluster.kill(cluster.jobManagers().get(0));
      cluster.addJobManager();
    } else {
      List<String> living = cluster.taskManagers();
      cluster.kill(living.get(strike.choice() % living.size()));
      cluster.addTaskManager();
    }
  }

  /** Until a step is trained again. */
  private static void awaitGoesOn(ProcessRun live) {
    int rows = live.rows();
    Awaitility.await()
        .atMost(LONGEST_RUN)
        .pollInterval(Duration.ofMillis(100))
        .until(() -> live.rows() > rows || live.isOver());
  }
}
