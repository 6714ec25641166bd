package org.draftmill.operators.jobs;

import java.time.Duration;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.core.fs.Path;
import org.apache.flink.core.io.SimpleVersionedSerializer;

/**
 * The jobs of a plan, in the order of its lists, each to whichever reader asks next. A split is one
 * job: no reader owns a share, none idles while a job is left.
 */
public final class JobSource implements Source<ExtractionJob, ExtractionJob, JobsState> {
  private static final long serialVersionUID = 1L;

  private final String plan;
  private final long limit;
  private final Duration timeout;
  private transient JobsMetrics metrics; // of the JobManager's copy

  /**
   * @param plan directory of the plan, on any file system that Flink knows
   */
  public JobSource(String plan) {
    this(plan, Long.MAX_VALUE, JobsOptions.TIMEOUT.defaultValue());
  }

  /**
   * @param limit how many jobs from the start of the run are handed out at most
   * @param timeout of reading the next part of a list, {@code jobs.timeout}
   */
  public JobSource(String plan, long limit, Duration timeout) {
    this.plan = plan;
    this.limit = limit;
    this.timeout = timeout;
  }

  @Override
  public Boundedness getBoundedness() {
    return Boundedness.BOUNDED;
  }

  @Override
  public SourceReader<ExtractionJob, ExtractionJob> createReader(SourceReaderContext context) {
    return new JobReader(context);
  }

  @Override
  public SplitEnumerator<ExtractionJob, JobsState> createEnumerator(
      SplitEnumeratorContext<ExtractionJob> context) {
    return restoreEnumerator(context, JobsState.START);
  }

  @Override
  public SplitEnumerator<ExtractionJob, JobsState> restoreEnumerator(
      SplitEnumeratorContext<ExtractionJob> context, JobsState state) {
    return new JobEnumerator(
        context,
        new FlinkByteSources(new Path(plan)),
        limit,
        state,
        metrics(),
        new ReadingClock(timeout, System::nanoTime));
  }

  private synchronized JobsMetrics metrics() {
    if (metrics == null) {
      metrics = new JobsMetrics();
    }
    return metrics;
  }

  @Override
  public SimpleVersionedSerializer<ExtractionJob> getSplitSerializer() {
    return new ExtractionJobSerializer();
  }

  @Override
  public SimpleVersionedSerializer<JobsState> getEnumeratorCheckpointSerializer() {
    return new JobsStateSerializer();
  }
}
