package org.draftmill.operators.jobs;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.core.io.InputStatus;

/**
 * Emits the job it was given and asks for the next when {@code collect} has returned: the target is
 * chained, so that is when it has room. A reader holds one job at most, after a restore with fewer
 * readers perhaps more.
 */
final class JobReader implements SourceReader<ExtractionJob, ExtractionJob> {
  private final SourceReaderContext context;
  private final Queue<ExtractionJob> jobs = new ArrayDeque<>();
  private CompletableFuture<Void> available = new CompletableFuture<>();
  private boolean noMore;

  JobReader(SourceReaderContext context) {
    this.context = context;
  }

  @Override
  public void start() {
    if (jobs.isEmpty()) {
      context.sendSplitRequest();
    }
  }

  @Override
  public InputStatus pollNext(ReaderOutput<ExtractionJob> output) {
    ExtractionJob job = jobs.poll();
    if (job != null) {
      output.collect(job);
      if (jobs.isEmpty() && !noMore) {
        context.sendSplitRequest();
      }
    }
    if (!jobs.isEmpty()) {
      return InputStatus.MORE_AVAILABLE;
    }
    if (noMore) {
      return InputStatus.END_OF_INPUT;
    }
    if (available.isDone()) {
      available = new CompletableFuture<>();
    }
    return InputStatus.NOTHING_AVAILABLE;
  }

  @Override
  public void addSplits(List<ExtractionJob> assigned) {
    jobs.addAll(assigned);
    available.complete(null);
  }

  @Override
  public void notifyNoMoreSplits() {
    noMore = true;
    available.complete(null);
  }

  @Override
  public CompletableFuture<Void> isAvailable() {
    return available;
  }

  @Override
  public List<ExtractionJob> snapshotState(long checkpointId) {
    return new ArrayList<>(jobs);
  }

  @Override
  public void close() {}
}
