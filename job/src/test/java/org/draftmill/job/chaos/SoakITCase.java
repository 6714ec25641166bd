package org.draftmill.job.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.ToDoubleFunction;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.JobStatus;
import org.awaitility.Awaitility;
import org.draftmill.job.train.ResolvedRun;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * One run for half an hour, a checkpoint every second and a kill every minute: what the process
 * holds must not grow. {@value #MINUTES} says how long.
 */
@Tag("chaos")
@Timeout(24 * 3600)
class SoakITCase {
  static final String MINUTES = "draftmill.soak.minutes";
  static final String PERIOD = "draftmill.soak.kill.seconds";

  private static final double NETTY_MEGABYTES = 8; // of a TaskManager with two slots

  @TempDir static Path home;

  @Test
  void whatTheProcessHoldsDoesNotGrow() throws Exception {
    double minutes = Double.parseDouble(System.getProperty(MINUTES, "30"));
    Duration period = Duration.ofSeconds(Long.getLong(PERIOD, 60));
    Scenario scenario = new Scenario(0, 2, 2, 2, 2, 1000, List.of());
    ChaosCluster cluster = ChaosCluster.start(6);
    try {
      ResolvedRun run = ChaosRun.in(home).of("soak", scenario, "jobs.epochs=10000");
      JobID job = cluster.submit(ChaosRun.graph(run));
      List<Vitals> all = soak(cluster, job, run, minutes, period);
      awaitRunning(job, run);
      cluster.stopWithSavepoint(job, run.directory().checkpoints().toUri().toString());
      Evidence.requireEveryLoggedStepOnce(run);
      requireFlat(all);
    } finally {
      cluster.close();
    }
  }

  /** Looks before every kill, when the run has settled from the one before. */
  private static List<Vitals> soak(
      ChaosCluster cluster, JobID job, ResolvedRun run, double minutes, Duration period)
      throws Exception {
    LiveJob live =
        new LiveJob(
            job, new LiveJob.Shape(run.steps(), run.plan().epochs(), 2 * ChaosRun.MIN_READY));
    Monkey monkey = new Monkey(cluster, job, live);
    Random random = new Random(1);
    List<Vitals> all = new ArrayList<>();
    System.out.println(Vitals.header());
    long start = System.nanoTime();
    int hits = 0;
    for (int kill = 0; minute(start) < minutes; kill++) {
      while (minute(start) * 60 < (kill + 1) * period.toSeconds()) {
        Thread.sleep(200);
        assertThat(cluster.status(job)).isNotEqualTo(JobStatus.FAILED);
      }
      Vitals now = Vitals.now(minute(start), run.directory().root());
      all.add(now);
      Weapon weapon = Weapon.values()[kill % Weapon.values().length];
      List<Kill> done =
          monkey.rage(
              List.of(
                  new Strike(
                      Moment.DRAFTER_COMPUTING, weapon, 0, random.nextInt(40), random.nextInt(9))));
      System.out.printf("%s %s, then %s%n", now, "step " + done.get(0).step(), weapon.label());
      hits += done.get(0).hit() ? 1 : 0;
    }
    System.out.printf("%d kills, %d of them hit%n", all.size(), hits);
    assertThat(hits).isGreaterThan(all.size() / 2);
    return all;
  }

  private static void awaitRunning(JobID job, ResolvedRun run) {
    LiveJob live = new LiveJob(job, new LiveJob.Shape(run.steps(), 1, 0));
    Awaitility.await()
        .atMost(Duration.ofMinutes(2))
        .until(() -> live.isUp() && live.hasMoved(WatchedMetrics.POOL_RELEASES));
  }

  private static double minute(long start) {
    return (System.nanoTime() - start) / 60e9;
  }

  /** Compares the first third, but for the warm-up, with the last. */
  private static void requireFlat(List<Vitals> all) {
    List<Vitals> warm = all.subList(Math.min(all.size() / 6, 5), all.size());
    if (warm.size() < 6) {
      return; // too short to tell
    }
    List<Vitals> first = warm.subList(0, warm.size() / 3);
    List<Vitals> last = warm.subList(warm.size() - warm.size() / 3, warm.size());
    requireFlat("heap", first, last, Vitals::heapMegabytes, 1.15, 10);
    // A MiniCluster keeps hold of TaskManagers that have ended, and of what Netty gave them.
    double ended = all.size() / 3.0 * NETTY_MEGABYTES;
    requireFlat("direct memory", first, last, Vitals::directMegabytes, 1.05, ended);
    requireFlat("mapped memory", first, last, Vitals::mappedMegabytes, 1.05, 8);
    requireFlat("open files", first, last, Vitals::descriptors, 1.05, 8);
    requireFlat("threads", first, last, Vitals::threads, 1.05, 4);
    requireFlat("states", first, last, Vitals::stateFiles, 1.2, 8);
  }

  private static void requireFlat(
      String what,
      List<Vitals> first,
      List<Vitals> last,
      ToDoubleFunction<Vitals> figure,
      double factor,
      double slack) {
    double before = median(first, figure);
    double after = median(last, figure);
    System.out.printf("%s: %.1f, then %.1f%n", what, before, after);
    assertThat(after).as(what).isLessThanOrEqualTo(before * factor + slack);
  }

  private static double median(List<Vitals> vitals, ToDoubleFunction<Vitals> figure) {
    double[] sorted = vitals.stream().mapToDouble(figure).sorted().toArray();
    return sorted[sorted.length / 2];
  }
}
