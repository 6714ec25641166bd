package org.draftmill.operators.pool;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.IntStream;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.testutils.MetricListener;
import org.draftmill.serializers.HiddenStateChunk;
import org.draftmill.serializers.StepMarker;
import org.junit.jupiter.api.Test;

/** The names are what the web UI charts and the progress line reads. */
class PoolMetricsTest {
  private final PoolSettings settings = TestingSettings.of(10, 4).minReady(2).maxReady(5).build();
  private final Pool pool =
      new Pool(List.of(new PoolShard(0, settings)), true, new IgnoringOutlet());
  private final MetricListener metrics = new MetricListener();
  private final PoolMetrics figures = new PoolMetrics(pool, settings, metrics.getMetricGroup());

  private double gauge(String... name) {
    String[] path = new String[name.length + 2];
    path[0] = "draftmill";
    path[1] = "pool";
    System.arraycopy(name, 0, path, 2, name.length);
    Gauge<Number> gauge = metrics.<Number>getGauge(path).orElseThrow();
    return gauge.getValue().doubleValue();
  }

  @Test
  void theDepthIsGivenInAllAndByBucket() {
    long bytes = 0;
    for (long position = 0; position < 3; position++) {
      for (HiddenStateChunk chunk : TestingChunks.of(position)) {
        pool.add(0, chunk);
        bytes += chunk.sizeInBytes();
      }
    }
    assertThat(gauge("readyMicrobatches")).isEqualTo(3);
    assertThat(gauge("readyBytes")).isEqualTo(bytes);
    double ofAllBuckets =
        IntStream.range(0, TestingChunks.BUCKETS)
            .mapToDouble(bucket -> gauge("bucket", Integer.toString(bucket), "readyMicrobatches"))
            .sum();
    assertThat(ofAllBuckets).isEqualTo(3);
    assertThat(gauge("step")).isZero();
    assertThat(gauge("minReady")).isEqualTo(2);
    assertThat(gauge("maxReady")).isEqualTo(5);
    assertThat(gauge("maxBytes")).isEqualTo(settings.maxMemoryBytes());
  }

  @Test
  void whatItWaitsForIsTimed() {
    pool.know(Gate.CLOSED);
    figures.update();
    figures.released();
    assertThat(gauge("minReadyStallSeconds")).isPositive();
    assertThat(gauge("waitForJobSeconds")).isZero();
    assertThat(gauge("waitForDemandSeconds")).isZero();
    assertThat(gauge("waitForStepSeconds")).isNotNegative();
    assertThat(metrics.getCounter("draftmill", "pool", "releases").orElseThrow().getCount())
        .isOne();
  }

  private static final class IgnoringOutlet implements Pool.Outlet {
    @Override
    public void held(int shard, HeldMicrobatch microbatch) {}

    @Override
    public void released(int shard, HeldMicrobatch microbatch) {}

    @Override
    public void send(int drafter, long step, HeldMicrobatch microbatch) {}

    @Override
    public void send(StepMarker marker) {}
  }
}
