package org.draftmill.job.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.draftmill.job.TestingRuns;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A session cluster that is not restarted between jobs: what one leaves behind adds up. */
@Tag("cluster")
@Timeout(3600)
class ManyJobsITCase {
  private static final Duration PATIENCE = Duration.ofMinutes(20);

  /** Flink's loader of a job's classes. */
  private static final String JOB_LOADER = "ChildFirstClassLoader";

  @TempDir Path dir;

  @Test
  void tenJobsLeaveNothingBehind() throws Exception {
    try (TestingCluster cluster = TestingCluster.start("many-jobs", ClusterSpec.of(1, 5))) {
      List<Long> taskManager = new ArrayList<>();
      List<Long> jobManager = new ArrayList<>();
      Set<String> weights = new HashSet<>();
      for (int number = 1; number <= 10; number++) {
        Path folder = Files.createDirectories(dir.resolve("job-" + number));
        TestingRuns runs = TestingRuns.in(folder, 20, true);
        String job = cluster.submit(runs.arguments());
        cluster.awaitStatus(job, "FINISHED", PATIENCE);
        TestingRuns.requireEveryJobOnce(runs.runDirectory());
        weights.add(TestingRuns.weights(runs.runDirectory()));
        taskManager.add(jvm(cluster, "taskmanager-1").collected().metaspace());
        jobManager.add(jvm(cluster, "jobmanager-1").collected().metaspace());
      }

      assertThat(weights).hasSize(1);
      requireFlat(taskManager);
      requireFlat(jobManager);
      // One of the last job may still be referred to by caches that the next job clears.
      assertThat(jvm(cluster, "taskmanager-1").classLoaders(JOB_LOADER)).isLessThanOrEqualTo(2);
      assertThat(jvm(cluster, "jobmanager-1").classLoaders(JOB_LOADER)).isLessThanOrEqualTo(2);
    }
  }

  /** The later half takes what the first half took, but for what is loaded once on the way. */
  private static void requireFlat(List<Long> metaspace) {
    int half = metaspace.size() / 2;
    long first = Collections.max(metaspace.subList(0, half));
    long second = Collections.max(metaspace.subList(half, metaspace.size()));
    assertThat(second).as("metaspace after each job: " + metaspace).isLessThan(first + first / 20);
  }

  private static JvmProbe jvm(TestingCluster cluster, String member) throws IOException {
    return new JvmProbe(cluster.pid(member));
  }
}
