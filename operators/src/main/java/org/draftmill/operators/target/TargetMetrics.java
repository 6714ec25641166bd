package org.draftmill.operators.target;

import java.util.function.Supplier;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.MeterView;
import org.apache.flink.metrics.MetricGroup;
import org.draftmill.operators.target.HiddenStateExtractor.DeviceSeconds;
import org.draftmill.operators.target.PipelineActivity.Part;

/** The figures of one target, below {@code draftmill.target}; all but the rate only grow. */
final class TargetMetrics {
  private static final int RATE_SECONDS = 10;

  private final MetricGroup group;
  private final Counter jobs;
  private final Counter tokens;
  private final Counter deadLetters;

  TargetMetrics(MetricGroup operator, PipelineActivity activity) {
    group = operator.addGroup("draftmill").addGroup("target");
    jobs = group.counter("jobs");
    tokens = group.counter("tokens");
    deadLetters = group.counter("deadLetters");
    group.meter("tokensPerSecond", new MeterView(tokens, RATE_SECONDS));
    group.gauge("busySeconds", activity::busySeconds);
    group.gauge("prepareSeconds", () -> activity.seconds(Part.PREPARE));
    group.gauge("forwardSeconds", () -> activity.seconds(Part.FORWARD));
    group.gauge("packSeconds", () -> activity.seconds(Part.PACK));
  }

  /** Adds what the device has spent, once there is one. */
  void measure(Supplier<DeviceSeconds> device) {
    group.gauge("deviceForwardSeconds", () -> device.get().forward());
    group.gauge("deviceEncodeSeconds", () -> device.get().encode());
  }

  void done(JobResult result) {
    jobs.inc();
    if (result.deadLetter().isPresent()) {
      deadLetters.inc();
    } else {
      tokens.inc(result.job().tokens());
    }
  }

  long tokens() {
    return tokens.getCount();
  }
}
