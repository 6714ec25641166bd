package org.draftmill.operators;

import java.time.Duration;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.HeartbeatManagerOptions;
import org.apache.flink.configuration.RpcOptions;

/** Embedded clusters of tests. */
public final class TestingClusters {
  private static final Duration LONG = Duration.ofMinutes(10);

  private TestingClusters() {}

  /**
   * For a cluster that outlasts a machine which stands still for a while: by default a call between
   * its parts that lasts ten seconds fails the task, and so the job.
   */
  public static Configuration patient() {
    Configuration flink = new Configuration();
    flink.set(RpcOptions.ASK_TIMEOUT_DURATION, LONG);
    flink.set(HeartbeatManagerOptions.HEARTBEAT_TIMEOUT, LONG);
    return flink;
  }
}
