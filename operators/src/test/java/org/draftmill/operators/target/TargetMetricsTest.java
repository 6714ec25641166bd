package org.draftmill.operators.target;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.testutils.MetricListener;
import org.draftmill.operators.jobs.ExtractionJob;
import org.draftmill.operators.target.PipelineActivity.Part;
import org.junit.jupiter.api.Test;

class TargetMetricsTest {
  private final MetricListener metrics = new MetricListener();
  private final AtomicLong now = new AtomicLong();
  private final PipelineActivity activity = new PipelineActivity(now::get, working -> {});
  private final TargetMetrics figures = new TargetMetrics(metrics.getMetricGroup(), activity);

  private long count(String name) {
    return metrics.getCounter("draftmill", "target", name).orElseThrow().getCount();
  }

  private double seconds(String name) {
    Gauge<Double> gauge = metrics.<Double>getGauge("draftmill", "target", name).orElseThrow();
    return gauge.getValue();
  }

  @Test
  void jobsTokensAndDeadLettersAreCounted() {
    ExtractionJob job = TestingExtractor.job(1, 8, 9);
    figures.done(JobResult.of(job, List.of()));
    figures.done(JobResult.dead(TestingExtractor.batch(job), 3, "not finite"));

    assertThat(count("jobs")).isEqualTo(2);
    assertThat(count("tokens")).isEqualTo(17);
    assertThat(count("deadLetters")).isEqualTo(1);
    assertThat(metrics.getMeter("draftmill", "target", "tokensPerSecond")).isPresent();
  }

  @Test
  void timeIsGivenInSeconds() {
    activity.begin(Part.FORWARD, TestingExtractor.job(1, 8));
    now.addAndGet(1_500_000_000L);

    assertThat(seconds("forwardSeconds")).isEqualTo(1.5);
    assertThat(seconds("busySeconds")).isEqualTo(1.5);
    assertThat(seconds("prepareSeconds")).isZero();
    assertThat(seconds("packSeconds")).isZero();
  }
}
