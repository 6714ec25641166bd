package org.draftmill.job.chaos;

/** How a run is killed. */
enum Weapon {
  /** A TaskManager goes, another one comes. */
  TASK_MANAGER("TaskManager"),
  /** The JobMaster loses its leadership, and a new one recovers the job. */
  JOB_MASTER("JobMaster"),
  /** One thread of one task is interrupted, so that the task fails. */
  TASK("task");

  private final String label;

  Weapon(String label) {
    this.label = label;
  }

  String label() {
    return label;
  }
}
