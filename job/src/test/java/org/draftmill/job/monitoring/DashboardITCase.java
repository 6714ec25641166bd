package org.draftmill.job.monitoring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.draftmill.job.TestingRuns;
import org.draftmill.job.config.RunFile;
import org.draftmill.job.embedded.EmbeddedCluster;
import org.draftmill.job.embedded.RestMetrics;
import org.draftmill.job.train.FlinkSettings;
import org.draftmill.job.train.ResolvedRun;
import org.draftmill.job.train.TrainingPipeline;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A run whose options ask for Flink's Prometheus reporter, scraped as Prometheus would: all that
 * the dashboard and the alerts name is there.
 */
@Timeout(1800)
class DashboardITCase {
  @TempDir Path directory;

  @Test
  void everySeriesThatTheDashboardAndTheAlertsNameIsThere() throws Exception {
    int port = Scrape.freePorts();
    String name = "run-at-" + port;
    ResolvedRun run =
        ResolvedRun.of(
            RunFile.read(
                TestingRuns.in(directory, 30, true).file(),
                List.of(
                    "run.dir=" + directory.resolve(name),
                    "jobs.epochs=5000",
                    "pool.shards=3",
                    "pool.parallelism=2",
                    "flink.metrics.reporters=prom",
                    "flink.metrics.reporter.prom.factory.class="
                        + "org.apache.flink.metrics.prometheus.PrometheusReporterFactory",
                    "flink.metrics.reporter.prom.port=" + Scrape.range(port))));
    Configuration flink = FlinkSettings.of(run);
    List<Dashboard.Query> queries = new ArrayList<>(Dashboard.queries());
    queries.addAll(Dashboard.alerts());

    try (EmbeddedCluster cluster =
        EmbeddedCluster.start(flink, TrainingPipeline.slots(run, false).slots(), 0)) {
      StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(flink);
      TrainingPipeline.build(env, run);
      JobID job = cluster.submit(env.getStreamGraph());
      await()
          .atMost(Duration.ofMinutes(10))
          .ignoreExceptions()
          .untilAsserted(
              () -> {
                Scrape scrape = Scrape.of(port, "draftmill_" + name.replace("-", "_"));
                assertThat(queries).allSatisfy(query -> requireSeries(query, scrape));
                requireOneSplitForAllJobs(scrape);
              });
      await("what balance --rest asks for comes with the next heartbeat")
          .atMost(Duration.ofMinutes(10))
          .ignoreExceptions()
          .untilAsserted(
              () ->
                  assertThat(
                          RestMetrics.targets(cluster.webUi(), run.directory().jobName()).tokens())
                      .isPositive());
      cluster.cancel(job);
    }
  }

  private static void requireSeries(Dashboard.Query query, Scrape scrape) {
    assertThat(query.selectors()).as(query.place()).isNotEmpty();
    for (Dashboard.Selector selector : query.selectors()) {
      List<Scrape.Sample> series = scrape.select(selector);
      assertThat(series).as("%s: %s", query.place(), selector).isNotEmpty();
      assertThat(series)
          .as("%s: %s", query.place(), selector)
          .allSatisfy(sample -> assertThat(sample.labels().keySet()).containsAll(query.labels()));
    }
  }

  /** Flink registers metrics of each split id that a reader meets, for as long as it lives. */
  private static void requireOneSplitForAllJobs(Scrape scrape) {
    Set<String> splits =
        scrape.samples().stream()
            .filter(sample -> sample.metric().contains("_split_watermark_"))
            .map(sample -> sample.labels().get("split"))
            .collect(Collectors.toSet());
    assertThat(splits).containsExactly("job");
  }
}
