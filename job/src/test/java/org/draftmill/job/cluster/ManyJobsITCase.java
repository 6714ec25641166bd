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
import org.awaitility.Awaitility;
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

  /** Of the last job, and of the one before. */
  private static final long MOST_LOADERS = 2;

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
        taskManager.add(metaspace(jvm(cluster, "taskmanager-1")));
        jobManager.add(metaspace(jvm(cluster, "jobmanager-1")));
      }

      assertThat(weights).hasSize(1);
      requireFlat(taskManager);
      requireFlat(jobManager);
    }
  }

  /**
   * What classes take once those of the jobs before are gone. The last job's may still be referred
   * to by caches that the next job clears, and threads of a job end a little after it.
   */
  private static long metaspace(JvmProbe jvm) throws IOException {
    Awaitility.await()
        .atMost(PATIENCE)
        .untilAsserted(
            () ->
                assertThat(jvm.collected().classLoaders(JOB_LOADER))
                    .isLessThanOrEqualTo(MOST_LOADERS));
    return jvm.metaspace();
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
