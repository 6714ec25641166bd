package org.draftmill.operators.drafter;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.testutils.MetricListener;
import org.draftmill.compute.drafter.MicrobatchFigures;
import org.draftmill.compute.drafter.StepFigures;
import org.junit.jupiter.api.Test;

/** The names are what the web UI charts. */
class DrafterMetricsTest {
  private final MetricListener metrics = new MetricListener();
  private final DrafterMetrics figures = new DrafterMetrics(metrics.getMetricGroup());

  private double gauge(String name) {
    Gauge<Number> gauge = metrics.<Number>getGauge("draftmill", "drafter", name).orElseThrow();
    return gauge.getValue().doubleValue();
  }

  private long count(String name) {
    return metrics.getCounter("draftmill", "drafter", name).orElseThrow().getCount();
  }

  private static StepReport report(boolean skipped) {
    StepFigures step =
        new StepFigures(
            7, 2.5, 0.5, new double[] {}, 1.5, 1e-3, 0.25, 2, 0, 130, 40, skipped, 4, 5);
    StageSeconds own = new StageSeconds(1, 2, 3, 4, 5);
    return new StepReport(step, List.of(), own, own, 6.5);
  }

  @Test
  void secondsAndCountsAddUp() {
    figures.trained(new MicrobatchFigures(65, 3, 20, 10, 9, 8, 4, false, 2, 3));
    figures.trained(new MicrobatchFigures(65, 3, 20, 10, 9, 8, 4, false, 2, 3));
    figures.stepped(report(false));
    figures.stepped(report(true));
    assertThat(gauge("waitSeconds")).isEqualTo(2);
    assertThat(gauge("forwardSeconds")).isEqualTo(4);
    assertThat(gauge("backwardSeconds")).isEqualTo(6);
    assertThat(gauge("reduceSeconds")).isEqualTo(8);
    assertThat(gauge("optimizerSeconds")).isEqualTo(10);
    assertThat(gauge("busySeconds")).isEqualTo(20);
    assertThat(gauge("busy")).isPositive();
    assertThat(count("microbatches")).isEqualTo(2);
    assertThat(count("tokens")).isEqualTo(130);
    assertThat(count("skippedSteps")).isOne();
    assertThat(metrics.getMeter("draftmill", "drafter", "tokensPerSecond")).isPresent();
  }

  @Test
  void theLastStepIsShownOnceThereIsOne() {
    assertThat(gauge("step")).isEqualTo(-1);
    assertThat(gauge("loss")).isNaN();
    figures.stepped(report(false));
    assertThat(gauge("step")).isEqualTo(7);
    assertThat(gauge("loss")).isEqualTo(2.5);
    assertThat(gauge("accuracy")).isEqualTo(0.5);
    assertThat(gauge("jointPrefix")).isEqualTo(1.5);
    assertThat(gauge("lr")).isEqualTo(1e-3);
    assertThat(gauge("gradNorm")).isEqualTo(0.25);
    assertThat(gauge("stepSeconds")).isEqualTo(6.5);
  }
}
