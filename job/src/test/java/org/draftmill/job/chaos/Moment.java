package org.draftmill.job.chaos;

import java.util.Optional;

/** What a run is at when it is killed. Each knows how to tell from outside that it is now. */
enum Moment {
  /** A job was handed to a reader since the last look. */
  SOURCE_READING("source reading", "target-prepare") {
    @Override
    Optional<Thread> look(LiveJob job) {
      return job.hasMoved(WatchedMetrics.JOBS_REMAINING)
          ? job.thread("target-prepare")
          : Optional.empty();
    }
  },

  /** A target has computed since the last look, a moment ago. */
  TARGET_IN_JOB("target in a job", "target-forward") {
    @Override
    Optional<Thread> look(LiveJob job) {
      return job.hasMoved(WatchedMetrics.FORWARD_SECONDS)
          ? job.thread("target-forward")
          : Optional.empty();
    }
  },

  /** The pool holds some microbatches, but fewer than it needs to release one. */
  POOL_FILLING("pool filling", "pool ") {
    @Override
    Optional<Thread> look(LiveJob job) {
      long ready = job.poolReady();
      return ready > 0 && ready < job.minReady() && !job.isDraining()
          ? job.thread("pool ")
          : Optional.empty();
    }
  },

  /** The pool has released a microbatch since the last look. */
  POOL_RELEASING("pool releasing", "pool ") {
    @Override
    Optional<Thread> look(LiveJob job) {
      return job.hasMoved(WatchedMetrics.POOL_RELEASES) ? job.thread("pool ") : Optional.empty();
    }
  },

  /** The input has ended, and the pool still holds microbatches. */
  POOL_DRAINING("pool draining", "pool ") {
    @Override
    Optional<Thread> look(LiveJob job) {
      return job.isDraining() ? job.thread("pool ") : Optional.empty();
    }
  },

  /** A drafter is at a microbatch. */
  DRAFTER_COMPUTING("drafter computing", "draftmill drafter ") {
    @Override
    Optional<Thread> look(LiveJob job) {
      return job.threadIn("draftmill drafter ", "DrafterTrainer", "accumulate");
    }
  },

  /** A drafter exchanges sums or weights with the others. */
  DRAFTER_REDUCING("drafter reducing", "draftmill drafter ") {
    @Override
    Optional<Thread> look(LiveJob job) {
      return job.threadIn("draftmill drafter ", "TcpCollective", "run");
    }
  },

  /** A drafter finishes what lies before a barrier, or writes its state. */
  DRAFTER_CHECKPOINTING("drafter checkpointing", "drafter ") {
    @Override
    Optional<Thread> look(LiveJob job) {
      return job.threadIn("draftmill drafter ", "StateFiles", "write")
          .or(() -> job.threadIn("drafter ", "DrafterOperator", "prepareSnapshotPreBarrier"));
    }
  },

  /** A checkpoint is triggered and not yet complete. */
  JOB_MANAGER_IN_CHECKPOINT("JobManager in a checkpoint", "drafter ") {
    @Override
    Optional<Thread> look(LiveJob job) {
      return job.checkpointsInProgress() > 0 ? job.thread("drafter ") : Optional.empty();
    }
  },

  /** The pool releases the last two hundredths of an epoch. */
  END_OF_EPOCH("last 2 % of an epoch", "drafter ") {
    @Override
    Optional<Thread> look(LiveJob job) {
      return job.isAtEndOfEpoch() ? job.thread("drafter ") : Optional.empty();
    }
  },

  /** Tasks of a restart load their models and states. */
  RESTORING("restoring", "drafter ") {
    @Override
    Optional<Thread> look(LiveJob job) {
      return job.threadIn("drafter ", "DrafterOperator", "open");
    }
  };

  private final String label;
  private final String victim;

  Moment(String label, String victim) {
    this.label = label;
    this.victim = victim;
  }

  /** As the report calls it. */
  String label() {
    return label;
  }

  /** How the threads are called of which one dies when a task is to fail at this moment. */
  String victim() {
    return victim;
  }

  /** A thread that is at it right now; nothing if the run is at something else. */
  abstract Optional<Thread> look(LiveJob job);
}
