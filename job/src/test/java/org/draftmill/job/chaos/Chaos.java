package org.draftmill.job.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.api.common.JobID;
import org.apache.flink.runtime.jobmaster.JobResult;
import org.draftmill.job.train.ResolvedRun;

/** A cluster, the undisturbed runs to compare with, and the count of what happened. */
final class Chaos {
  private static final Duration LONGEST_RUN = Duration.ofMinutes(20);

  private final ChaosCluster cluster;
  private final ChaosRun runs;
  private final Map<Integer, Evidence> calm = new HashMap<>(); // by number of shards
  private final Map<Moment, Integer> kills = new EnumMap<>(Moment.class);
  private final Map<Weapon, Integer> weapons = new EnumMap<>(Weapon.class);
  private final ExecutorService watcher = Executors.newSingleThreadExecutor();
  private int disturbed;
  private int survived;
  private int mismatches;

  private Chaos(ChaosCluster cluster, ChaosRun runs) {
    this.cluster = cluster;
    this.runs = runs;
  }

  static Chaos in(Path home) throws Exception {
    ChaosRun runs = ChaosRun.in(home);
    return new Chaos(ChaosCluster.start(Scenario.MOST_SLOTS), runs);
  }

  /**
   * Runs a scenario to its end and compares what it leaves with what the undisturbed run left.
   *
   * @return what became of its strikes
   */
  List<Kill> survive(Scenario scenario) throws Exception {
    Evidence expected = calm(scenario.shards());
    long start = System.nanoTime();
    disturbed++;
    ResolvedRun run = runs.of("seed-" + scenario.seed() + "-" + disturbed, scenario);
    JobID job = cluster.submit(ChaosRun.graph(run));
    LiveJob live =
        new LiveJob(
            job,
            new LiveJob.Shape(
                run.steps(), ChaosRun.EPOCHS, ChaosRun.MIN_READY * scenario.shards()));
    List<Kill> happened = new Monkey(cluster, job, live).rage(scenario.strikes());
    String report = scenario + "\n  " + lines(happened);
    System.out.printf("%s%n  %.1f s%n", report, (System.nanoTime() - start) / 1e9);
    finish(job, report);
    cluster.awaitDead();
    System.out.printf("  ended after %.1f s%n", (System.nanoTime() - start) / 1e9);
    survived++;
    for (Kill kill : happened) {
      if (kill.hit()) {
        kills.merge(kill.strike().moment(), 1, Integer::sum);
        weapons.merge(kill.strike().weapon(), 1, Integer::sum);
      }
    }
    mismatches++;
    Evidence found = Evidence.of(run);
    assertThat(found.steps()).as(report).isEqualTo(expected.steps());
    assertThat(found).as(report).isEqualTo(expected);
    mismatches--;
    return happened;
  }

  /** What the run leaves when nothing happens to it, with other numbers of subtasks. */
  Evidence calm(int shards) throws Exception {
    Evidence known = calm.get(shards);
    if (known == null) {
      Scenario alone = new Scenario(0, 1, 1, shards, 1, 1000, List.of());
      ResolvedRun run = runs.of("calm-" + shards, alone);
      long start = System.nanoTime();
      finish(cluster.submit(ChaosRun.graph(run)), "undisturbed run");
      known = Evidence.of(run);
      System.out.printf(
          "undisturbed, %d shards: %d jobs, %d steps, %.1f s, weights %s%n",
          shards,
          run.wantedJobs(),
          run.steps(),
          (System.nanoTime() - start) / 1e9,
          known.masters());
      calm.put(shards, known);
    }
    return known;
  }

  private void finish(JobID job, String report) throws Exception {
    Future<JobResult> end = watcher.submit(() -> cluster.result(job));
    try {
      JobResult result = end.get(LONGEST_RUN.toMillis(), TimeUnit.MILLISECONDS);
      result.toJobExecutionResult(getClass().getClassLoader());
    } catch (TimeoutException e) {
      String threads = threads();
      cluster.cancel(job);
      throw new AssertionError(report + "\n  hangs. Its threads:\n" + threads, e);
    } catch (ExecutionException e) {
      throw new AssertionError(report, e.getCause());
    }
  }

  private static String threads() {
    return Thread.getAllStackTraces().entrySet().stream()
        .filter(entry -> Stream.of(entry.getValue()).anyMatch(Chaos::isOurs))
        .map(
            entry ->
                entry.getKey().getName()
                    + Stream.of(entry.getValue())
                        .map(frame -> "\n    " + frame)
                        .collect(Collectors.joining()))
        .collect(Collectors.joining("\n"));
  }

  private static boolean isOurs(StackTraceElement frame) {
    return frame.getClassName().startsWith("org.draftmill.operators");
  }

  private static String lines(List<Kill> happened) {
    return happened.stream().map(Kill::toString).collect(Collectors.joining("\n  "));
  }

  /** Kills that hit, by moment. */
  Map<Moment, Integer> kills() {
    return Map.copyOf(kills);
  }

  /** One line that says it all. */
  String summary() {
    return "chaos: %d runs, %d kills (%s; by %s), %d survived, %d mismatches"
        .formatted(
            disturbed,
            kills.values().stream().mapToInt(Integer::intValue).sum(),
            Stream.of(Moment.values())
                .map(moment -> moment.label() + " " + kills.getOrDefault(moment, 0))
                .collect(Collectors.joining(", ")),
            Stream.of(Weapon.values())
                .map(weapon -> weapon.label() + " " + weapons.getOrDefault(weapon, 0))
                .collect(Collectors.joining(", ")),
            survived,
            mismatches);
  }

  void close() throws Exception {
    watcher.shutdownNow();
    cluster.close();
  }
}
