package org.draftmill.operators.jobs;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.Set;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.apache.flink.util.FlinkRuntimeException;
import org.draftmill.corpus.io.ByteSources;
import org.draftmill.corpus.plan.Plan;
import org.draftmill.operators.restart.Restarts;

/**
 * The central work queue: hands out the lowest job that is left to whichever reader asks. Reads the
 * lists on another thread, a little ahead of what is asked for, so it never blocks the coordinator.
 */
final class JobEnumerator implements SplitEnumerator<ExtractionJob, JobsState> {
  static final int READ_AT_ONCE = 128;

  private final SplitEnumeratorContext<ExtractionJob> context;
  private final ByteSources plan;
  private final long limit;
  private final Queue<ExtractionJob> ahead = new ArrayDeque<>(); // read, not handed out
  private final Queue<ExtractionJob> returned =
      new PriorityQueue<>(Comparator.comparingLong(ExtractionJob::position));
  private final Set<Integer> waiting = new LinkedHashSet<>(); // readers that asked, oldest first
  private long next; // position of the next job of the list to hand out
  private long total = -1; // unknown until the plan is open
  private boolean reading;
  private volatile PlannedJobs list;
  private final JobsMetrics metrics;
  private final ReadingClock clock;

  /**
   * @param limit how many jobs from the start of the run are handed out at most
   * @param clock of the reading
   */
  JobEnumerator(
      SplitEnumeratorContext<ExtractionJob> context,
      ByteSources plan,
      long limit,
      JobsState state,
      JobsMetrics metrics,
      ReadingClock clock) {
    this.context = context;
    this.plan = plan;
    this.limit = limit;
    this.next = state.next();
    this.returned.addAll(state.returned());
    this.metrics = metrics;
    this.clock = clock;
  }

  @Override
  public void start() {
    metrics.register(context.metricGroup());
    readAhead();
  }

  @Override
  public void handleSplitRequest(int subtask, String host) {
    waiting.add(subtask);
    serve();
  }

  @Override
  public void addSplitsBack(List<ExtractionJob> jobs, int subtask) {
    waiting.remove(subtask);
    returned.addAll(jobs);
    serve();
  }

  @Override
  public void addReader(int subtask) {
    // A reader asks when it has room.
  }

  private void serve() {
    while (!waiting.isEmpty()) {
      int subtask = waiting.iterator().next();
      if (context.registeredReaders().containsKey(subtask) && !serve(subtask)) {
        break;
      }
      waiting.remove(subtask);
    }
    metrics.set(total < 0 ? 0 : total - next + returned.size(), total);
    if (ahead.size() < READ_AT_ONCE / 2) {
      readAhead();
    }
  }

  /** Answers a reader; false if that must wait until more of the list is read. */
  private boolean serve(int subtask) {
    if (!returned.isEmpty()) {
      context.assignSplit(returned.remove(), subtask);
    } else if (!ahead.isEmpty()) {
      next++;
      context.assignSplit(ahead.remove(), subtask);
    } else if (next == total) {
      context.signalNoMoreSplits(subtask);
    } else {
      return false;
    }
    return true;
  }

  private void readAhead() {
    if (!reading && next + ahead.size() != total) {
      reading = true;
      clock.start();
      context.callAsync(this::readMore, this::take);
    }
  }

  /** On a thread that may block. */
  private List<ExtractionJob> readMore() throws IOException {
    if (list == null) {
      list = PlannedJobs.open(plan, limit, next);
    }
    return list.read(READ_AT_ONCE);
  }

  private void take(List<ExtractionJob> jobs, Throwable failure) {
    clock.stop();
    if (Restarts.arePointless(failure)) {
      throw new SuppressRestartsException(failure);
    }
    if (failure != null) {
      throw new FlinkRuntimeException("Reading the list of jobs failed.", failure);
    }
    reading = false;
    total = list.total();
    ahead.addAll(jobs);
    serve();
  }

  @Override
  public JobsState snapshotState(long checkpointId) {
    List<ExtractionJob> jobs = new ArrayList<>(returned);
    jobs.sort(Comparator.comparingLong(ExtractionJob::position));
    return new JobsState(next, jobs);
  }

  /** A thread that waits for a file system cannot say so itself. */
  @Override
  public void notifyCheckpointComplete(long checkpointId) {
    clock.check(plan.file(Plan.FILE).name(), next + ahead.size());
  }

  @Override
  public void close() throws IOException {
    if (list != null) {
      list.close();
    }
  }
}
