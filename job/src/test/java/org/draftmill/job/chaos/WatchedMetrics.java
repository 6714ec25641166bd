package org.draftmill.job.chaos;

import java.util.List;
import java.util.Properties;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Predicate;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.metrics.Metric;
import org.apache.flink.metrics.MetricConfig;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.reporter.MetricReporter;
import org.apache.flink.metrics.reporter.MetricReporterFactory;

/**
 * Keeps hold of the few metrics by which a run is watched, as long as their task lives: reading one
 * asks the task itself, at once. Flink makes the reporter; all of a process share what they hold.
 */
public final class WatchedMetrics implements MetricReporter, MetricReporterFactory {
  static final String POOL_STEP = "draftmill.pool.step";
  static final String POOL_READY = "draftmill.pool.readyMicrobatches";
  static final String POOL_RELEASES = "draftmill.pool.releases";
  static final String JOBS_REMAINING = "draftmill.jobs.jobsRemaining";
  static final String FORWARD_SECONDS = "draftmill.target.forwardSeconds";
  static final String CHECKPOINTS = "numberOfInProgressCheckpoints";

  private static final List<String> WATCHED =
      List.of(POOL_STEP, POOL_READY, POOL_RELEASES, JOBS_REMAINING, FORWARD_SECONDS, CHECKPOINTS);

  private static final List<Watched> FOUND = new CopyOnWriteArrayList<>();

  private record Watched(Metric metric, String job, String name) {}

  /** Has Flink use it. */
  static void addTo(Configuration flink) {
    flink.setString("metrics.reporter.watched.factory.class", WatchedMetrics.class.getName());
  }

  /** Those of a job that exist now, one for each subtask. */
  static List<Metric> of(JobID job, String name) {
    String id = job.toString();
    Predicate<Watched> wanted = found -> found.name().equals(name) && found.job().equals(id);
    return FOUND.stream().filter(wanted).map(Watched::metric).toList();
  }

  @Override
  public MetricReporter createMetricReporter(Properties properties) {
    return this;
  }

  @Override
  public void notifyOfAddedMetric(Metric metric, String name, MetricGroup group) {
    String identifier = group.getMetricIdentifier(name);
    for (String watched : WATCHED) {
      String job = group.getAllVariables().get("<job_id>");
      if (job != null && identifier.endsWith("." + watched)) {
        FOUND.add(new Watched(metric, job, watched));
      }
    }
  }

  @Override
  public void notifyOfRemovedMetric(Metric metric, String name, MetricGroup group) {
    FOUND.removeIf(found -> found.metric() == metric);
  }

  @Override
  public void open(MetricConfig config) {}

  @Override
  public void close() {}
}
