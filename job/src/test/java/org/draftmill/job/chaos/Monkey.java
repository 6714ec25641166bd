package org.draftmill.job.chaos;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.JobStatus;
import org.draftmill.job.chaos.Kill.Outcome;

/** Strikes a running job as its scenario says, in the caller's thread. */
final class Monkey {
  private static final long PAUSE_NANOS = 100_000;

  /** How long a strike waits for its moment before it is given up, and for its effect. */
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  /** The part of a run after which those that follow are to have their turn. */
  private static final double LATE = 0.4;

  private final ChaosCluster cluster;
  private final JobID job;
  private final LiveJob live;

  Monkey(ChaosCluster cluster, JobID job, LiveJob live) {
    this.cluster = cluster;
    this.job = job;
    this.live = live;
  }

  /** Ends when all strikes are done or the job has ended. */
  List<Kill> rage(List<Strike> strikes) throws Exception {
    List<Kill> kills = new ArrayList<>();
    for (Strike strike : strikes) {
      Optional<Thread> victim = await(strike);
      if (victim.isEmpty()) {
        kills.add(new Kill(strike, isOver() ? Outcome.TOO_LATE : Outcome.NEVER_CAME, live.step()));
        continue;
      }
      long step = live.step();
      List<Thread> attempt = LiveJob.threads("draftmill drafter ").toList();
      strike(strike, victim.get());
      kills.add(new Kill(strike, outcome(attempt), step));
    }
    return kills;
  }

  private Optional<Thread> await(Strike strike) throws Exception {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    if (strike.moment() != Moment.RESTORING && strike.moment() != Moment.POOL_FILLING) {
      while (!live.isUp() || live.progress() < strike.notBefore()) {
        if (isOver()) {
          return Optional.empty();
        }
        LockSupport.parkNanos(PAUSE_NANOS);
        deadline = System.nanoTime() + PATIENCE.toNanos();
      }
      Thread.sleep(strike.delayMillis());
    }
    for (int look = 1; System.nanoTime() < deadline; look++) {
      Optional<Thread> seen = strike.moment().look(live);
      if (seen.isPresent()) {
        return seen;
      }
      if (look % 100 == 0 && (isOver() || live.progress() > strike.notBefore() + LATE)) {
        break;
      }
      LockSupport.parkNanos(PAUSE_NANOS);
    }
    return Optional.empty();
  }

  private void strike(Strike strike, Thread seen) throws Exception {
    switch (strike.weapon()) {
      case TASK_MANAGER -> cluster.killTaskManager(strike.choice());
      case JOB_MASTER -> cluster.killJobMaster(job);
      case TASK -> {
        String victim = strike.moment().victim();
        Thread thread = seen.getName().startsWith(victim) ? seen : live.thread(victim).orElse(seen);
        thread.interrupt();
      }
      default -> throw new IllegalArgumentException(strike.toString());
    }
  }

  /** All threads of an attempt end, if it was hit. */
  private Outcome outcome(List<Thread> attempt) throws Exception {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (attempt.stream().anyMatch(Thread::isAlive)) {
      if (System.nanoTime() > deadline) {
        return Outcome.WITHOUT_EFFECT;
      }
      LockSupport.parkNanos(PAUSE_NANOS);
    }
    return isOver() ? Outcome.TOO_LATE : Outcome.HIT;
  }

  private boolean isOver() throws Exception {
    JobStatus status = cluster.status(job);
    return status.isGloballyTerminalState();
  }
}
