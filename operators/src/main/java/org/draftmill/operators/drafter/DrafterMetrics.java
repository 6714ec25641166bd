package org.draftmill.operators.drafter;

import java.util.concurrent.atomic.DoubleAdder;
import java.util.function.Supplier;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.MeterView;
import org.apache.flink.metrics.MetricGroup;
import org.draftmill.compute.drafter.DeviceSeconds;
import org.draftmill.compute.drafter.MicrobatchFigures;
import org.draftmill.compute.drafter.StepFigures;

/**
 * The drafter's metrics, in the group {@code draftmill.drafter} of the operator: seconds, counts
 * and tokens a second of this drafter since it started, and the figures of the last step, which are
 * those of all drafters together and the same on each. Written by the computing thread.
 */
final class DrafterMetrics {
  private static final int RATE_SECONDS = 10;

  private final DoubleAdder wait = new DoubleAdder();
  private final DoubleAdder forward = new DoubleAdder();
  private final DoubleAdder backward = new DoubleAdder();
  private final DoubleAdder reduce = new DoubleAdder();
  private final DoubleAdder optimizer = new DoubleAdder();
  private final MetricGroup group;
  private final Counter microbatches;
  private final Counter tokens;
  private final Counter skippedSteps;
  private final long start = System.nanoTime();
  private volatile StepFigures last;
  private volatile double stepSeconds = Double.NaN;

  DrafterMetrics(MetricGroup operator) {
    group = operator.addGroup("draftmill").addGroup("drafter");
    seconds(group, "waitSeconds", wait);
    seconds(group, "forwardSeconds", forward);
    seconds(group, "backwardSeconds", backward);
    seconds(group, "reduceSeconds", reduce);
    seconds(group, "optimizerSeconds", optimizer);
    group.gauge("busySeconds", (Gauge<Double>) this::busySeconds);
    group.gauge("busy", (Gauge<Double>) this::busy);
    microbatches = group.counter("microbatches");
    tokens = group.counter("tokens");
    skippedSteps = group.counter("skippedSteps");
    group.meter("tokensPerSecond", new MeterView(tokens, RATE_SECONDS));
    group.gauge("stepSeconds", (Gauge<Double>) () -> stepSeconds);
    group.gauge("step", (Gauge<Long>) () -> last == null ? -1 : last.step());
    figure(group, "loss", StepFigures::loss);
    figure(group, "accuracy", StepFigures::accuracy);
    figure(group, "jointPrefix", StepFigures::jointPrefix);
    figure(group, "lr", StepFigures::learningRate);
    figure(group, "gradNorm", StepFigures::gradientNorm);
  }

  /** Adds what the device has spent, once there is one. */
  void measure(Supplier<DeviceSeconds> device) {
    group.gauge("deviceForwardSeconds", (Gauge<Double>) () -> device.get().forward());
    group.gauge("deviceBackwardSeconds", (Gauge<Double>) () -> device.get().backward());
    group.gauge("deviceOptimizerSeconds", (Gauge<Double>) () -> device.get().optimizer());
  }

  void trained(MicrobatchFigures figures) {
    forward.add(figures.forwardSeconds());
    backward.add(figures.backwardSeconds());
    microbatches.inc();
    tokens.inc(figures.rows());
  }

  void stepped(StepReport report) {
    wait.add(report.seconds().waitPool());
    reduce.add(report.seconds().reduce());
    optimizer.add(report.seconds().optimizer());
    stepSeconds = report.wallSeconds();
    if (report.figures().skipped()) {
      skippedSteps.inc();
    }
    last = report.figures();
  }

  private double busySeconds() {
    return forward.sum() + backward.sum() + optimizer.sum();
  }

  /** Part of the time since the start that was spent computing. */
  private double busy() {
    return busySeconds() / ((System.nanoTime() - start) * 1e-9);
  }

  private static void seconds(MetricGroup group, String name, DoubleAdder sum) {
    group.gauge(name, (Gauge<Double>) sum::sum);
  }

  private void figure(
      MetricGroup group, String name, java.util.function.ToDoubleFunction<StepFigures> figure) {
    group.gauge(name, (Gauge<Double>) () -> last == null ? Double.NaN : figure.applyAsDouble(last));
  }
}
