package org.draftmill.box;

import java.util.Locale;

/** What a process of the cluster is. */
public enum Role {
  ZOOKEEPER("ZooKeeper", "org.apache.flink.runtime.zookeeper.FlinkZooKeeperQuorumPeer"),
  JOBMANAGER(
      "JobManager", "org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint"),
  TASKMANAGER("TaskManager", "org.apache.flink.runtime.taskexecutor.TaskManagerRunner");

  private final String title;
  private final String mainClass;

  Role(String title, String mainClass) {
    this.title = title;
    this.mainClass = mainClass;
  }

  String title() {
    return title;
  }

  String mainClass() {
    return mainClass;
  }

  /** The name of the {@code number}th of its kind: {@code taskmanager-2}. */
  String member(int number) {
    return name().toLowerCase(Locale.ROOT) + "-" + number;
  }

  boolean isOf(String member) {
    return member.startsWith(name().toLowerCase(Locale.ROOT) + "-");
  }
}
