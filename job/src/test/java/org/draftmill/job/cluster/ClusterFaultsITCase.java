package org.draftmill.job.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import org.draftmill.job.TestingRuns;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Tag("cluster")
@Timeout(900)
class ClusterFaultsITCase {
  @TempDir Path dir;

  @Test
  void survivesATaskManager() throws Exception {
    TestingRuns runs = TestingRuns.in(dir, 60, true);
    try (TestingCluster cluster = TestingCluster.start("faults", ClusterSpec.of(3, 2))) {
      String job = cluster.submit("--config", runs.file().toString(), "-D", "jobs.epochs=20");
      cluster.awaitCheckpoints(job, 1, Duration.ofMinutes(2));
      cluster.kill("taskmanager-1");
      assertThat(cluster.addTaskManager()).isEqualTo("taskmanager-4");
      cluster.awaitStatus(job, "FINISHED", Duration.ofMinutes(5));
    }
  }
}
