package org.draftmill.job.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.util.ratelimit.RateLimiterStrategy;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ExternalizedCheckpointRetention;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.streaming.api.graph.StreamGraph;
import org.draftmill.job.run.RunDirectory;
import org.draftmill.job.run.SavedState;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EmbeddedClusterITCase {
  @TempDir Path dir;

  @Test
  void runsAJobWithItsWebUiAndLeavesStatesToResumeFrom() throws Exception {
    Path checkpoints = dir.resolve("checkpoints");
    try (EmbeddedCluster cluster = EmbeddedCluster.start(retaining(), 1, 0)) {
      await("a page, which there is none of until a leader is elected")
          .atMost(Duration.ofMinutes(5))
          .ignoreExceptions()
          .until(() -> page(cluster.webUi()), page -> page.contains("flink-root"));
      JobID job = cluster.submit(endless(checkpoints));
      RestMetrics metrics = new RestMetrics(cluster.webUi(), job);
      await()
          .atMost(Duration.ofMinutes(5))
          .ignoreExceptions()
          .until(
              () -> metrics.sums(List.of("numRecordsOut")),
              (Map<String, Double> sums) -> sums.getOrDefault("numRecordsOut", 0.0) > 0);
      await().atMost(Duration.ofMinutes(5)).until(() -> SavedState.list(checkpoints).size() >= 2);

      cluster.stopWithSavepoint(job, checkpoints.toUri().toString(), 300);
    }

    List<SavedState> states = SavedState.list(checkpoints);
    assertThat(states).isSortedAccordingTo((a, b) -> Long.compare(b.id(), a.id()));
    assertThat(states.get(0).path().getFileName().toString()).startsWith("savepoint-");
  }

  private static String page(URI address) throws IOException {
    try (InputStream page = address.toURL().openStream()) {
      return new String(page.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  @Test
  void pruningKeepsTheLastStatesAndPassesOverOnesThatCannotBeRead() throws Exception {
    Path checkpoints = dir.resolve("checkpoints");
    try (EmbeddedCluster cluster = EmbeddedCluster.start(retaining(), 1, 0)) {
      for (int run = 0; run < 2; run++) {
        JobID job = cluster.submit(endless(checkpoints));
        await()
            .atMost(Duration.ofMinutes(5))
            .until(() -> SavedState.list(checkpoints.resolve(job.toString())).size() >= 2);
        cluster.cancel(job);
      }
    }
    List<SavedState> states = SavedState.list(checkpoints);
    Files.write(states.get(0).path().resolve("_metadata"), new byte[7]);
    assertThat(SavedState.list(checkpoints)).isEqualTo(states.subList(1, states.size()));

    SavedState.prune(new RunDirectory(dir), 1);

    assertThat(SavedState.list(checkpoints)).isEqualTo(states.subList(1, 2));
  }

  /** How many checkpoints are retained is the cluster's to say: a job that says so is not heard. */
  private static Configuration retaining() {
    Configuration cluster = new Configuration();
    cluster.set(CheckpointingOptions.MAX_RETAINED_CHECKPOINTS, 3);
    return cluster;
  }

  /** Counts up, ten a second, with a checkpoint every 100 ms. */
  private static StreamGraph endless(Path checkpoints) {
    Configuration job = new Configuration();
    job.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, Duration.ofMillis(100));
    job.set(CheckpointingOptions.CHECKPOINTS_DIRECTORY, checkpoints.toUri().toString());
    job.set(CheckpointingOptions.CHECKPOINT_STORAGE, "filesystem");
    job.set(
        CheckpointingOptions.EXTERNALIZED_CHECKPOINT_RETENTION,
        ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION);
    StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(job);
    env.setParallelism(1);
    env.fromSource(
            new DataGeneratorSource<>(
                index -> index, Long.MAX_VALUE, RateLimiterStrategy.perSecond(10), Types.LONG),
            WatermarkStrategy.noWatermarks(),
            "numbers")
        .uid("numbers")
        .sinkTo(new DiscardingSink<>())
        .uid("sink");
    return env.getStreamGraph();
  }
}
