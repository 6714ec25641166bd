package org.draftmill.job.chaos;

/**
 * A SIGKILL that a run on separate processes is to survive.
 *
 * @param notBefore the part of the steps, 0 to 1, that must be trained
 */
record ProcessStrike(Moment moment, Victim victim, double notBefore, long delayMillis, int choice) {

  /** Whose process dies. */
  enum Victim {
    TASK_MANAGER,
    JOB_MANAGER
  }

  /** What can be told from outside of a process: by files and by Flink's REST interface. */
  enum Moment {
    /** The job is handed in, and no step is trained yet. */
    STARTING,
    /** Some time in the middle. */
    TRAINING,
    /** A checkpoint's directory is there and its metadata is not. */
    CHECKPOINT_IN_PROGRESS,
    /** A drafter writes its state: there is a file with a temporary name. */
    WRITING_STATE,
    /** The sources have ended, the drafters have not. */
    DRAINING,
    /** The last two hundredths of the steps. */
    LAST_STEPS
  }

  @Override
  public String toString() {
    return "%s at %s, from %.2f on".formatted(victim, moment, notBefore);
  }
}
