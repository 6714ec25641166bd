package org.draftmill.operators.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.api.common.eventtime.Watermark;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.SourceEvent;
import org.apache.flink.api.connector.source.SourceOutput;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.io.InputStatus;
import org.apache.flink.metrics.groups.SourceReaderMetricGroup;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.util.UserCodeClassLoader;
import org.junit.jupiter.api.Test;

class JobReaderTest {
  private final TestingReaderContext context = new TestingReaderContext();
  private final JobReader reader = new JobReader(context);
  private final TestingOutput output = new TestingOutput();

  private static ExtractionJob job(long position) {
    return new ExtractionJob(position, 0, (int) position, 0, new long[] {position}, 8);
  }

  @Test
  void asksForOneJobAndForTheNextWhenItIsDone() {
    reader.start();
    assertThat(context.requests).isEqualTo(1);
    assertThat(reader.pollNext(output)).isEqualTo(InputStatus.NOTHING_AVAILABLE);
    CompletableFuture<Void> available = reader.isAvailable();
    assertThat(available).isNotDone();

    reader.addSplits(List.of(job(3)));
    assertThat(available).isDone();
    output.onCollect = () -> assertThat(context.requests).as("while collecting").isEqualTo(1);
    assertThat(reader.pollNext(output)).isEqualTo(InputStatus.NOTHING_AVAILABLE);

    assertThat(output.jobs).containsExactly(job(3));
    assertThat(context.requests).isEqualTo(2);
    assertThat(reader.isAvailable()).isNotDone();
  }

  @Test
  void endsWhenThereAreNoMoreJobs() {
    reader.start();
    reader.addSplits(List.of(job(3)));
    reader.notifyNoMoreSplits();

    assertThat(reader.pollNext(output)).isEqualTo(InputStatus.END_OF_INPUT);
    assertThat(output.jobs).containsExactly(job(3));
    assertThat(context.requests).isEqualTo(1);
    assertThat(reader.isAvailable()).isDone();
  }

  @Test
  void aJobThatWasNotEmittedIsItsState() {
    reader.start();
    reader.addSplits(List.of(job(3)));
    assertThat(reader.snapshotState(1)).containsExactly(job(3));

    reader.pollNext(output);
    assertThat(reader.snapshotState(2)).isEmpty();
  }

  @Test
  void emitsRestoredJobsBeforeItAsks() {
    reader.addSplits(List.of(job(3), job(9)));
    reader.start();
    assertThat(context.requests).isZero();
    assertThat(reader.pollNext(output)).isEqualTo(InputStatus.MORE_AVAILABLE);
    assertThat(context.requests).isZero();
    assertThat(reader.pollNext(output)).isEqualTo(InputStatus.NOTHING_AVAILABLE);
    assertThat(output.jobs).containsExactly(job(3), job(9));
    assertThat(context.requests).isEqualTo(1);
  }

  private static final class TestingOutput implements ReaderOutput<ExtractionJob> {
    final List<ExtractionJob> jobs = new ArrayList<>();
    Runnable onCollect = () -> {};

    @Override
    public void collect(ExtractionJob job) {
      onCollect.run();
      jobs.add(job);
    }

    @Override
    public void collect(ExtractionJob job, long timestamp) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void emitWatermark(Watermark watermark) {}

    @Override
    public void markIdle() {}

    @Override
    public void markActive() {}

    @Override
    public SourceOutput<ExtractionJob> createOutputForSplit(String splitId) {
      return this;
    }

    @Override
    public void releaseOutputForSplit(String splitId) {}
  }

  private static final class TestingReaderContext implements SourceReaderContext {
    int requests;

    @Override
    public void sendSplitRequest() {
      requests++;
    }

    @Override
    public SourceReaderMetricGroup metricGroup() {
      return UnregisteredMetricsGroup.createSourceReaderMetricGroup();
    }

    @Override
    public Configuration getConfiguration() {
      return new Configuration();
    }

    @Override
    public String getLocalHostName() {
      return "localhost";
    }

    @Override
    public int getIndexOfSubtask() {
      return 0;
    }

    @Override
    public void sendSourceEventToCoordinator(SourceEvent event) {
      throw new UnsupportedOperationException();
    }

    @Override
    public UserCodeClassLoader getUserCodeClassLoader() {
      throw new UnsupportedOperationException();
    }
  }
}
