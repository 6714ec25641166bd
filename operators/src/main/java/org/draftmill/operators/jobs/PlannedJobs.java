package org.draftmill.operators.jobs;

import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import org.draftmill.corpus.InputException;
import org.draftmill.corpus.io.ByteSources;
import org.draftmill.corpus.plan.Job;
import org.draftmill.corpus.plan.JobIterator;
import org.draftmill.corpus.plan.Plan;

/**
 * The lists of all epochs as one, read on from a position, a block at a time. One thread reads at a
 * time; another may close.
 */
final class PlannedJobs implements Closeable {
  private final Plan plan;
  private final long total;
  private JobIterator list; // of the epoch at hand
  private long position;
  private boolean closed;

  private PlannedJobs(Plan plan, long total, long position) {
    this.plan = plan;
    this.total = total;
    this.position = position;
  }

  /**
   * Opens a plan at a position.
   *
   * @param limit how many jobs from the start of the run are wanted at most
   * @throws InputException if there is no plan, or if it is shorter than the position
   */
  static PlannedJobs open(ByteSources directory, long limit, long position) throws IOException {
    Plan plan = Plan.read(directory);
    long total = Math.min(plan.jobs(), limit);
    if (position > total) {
      throw new InputException(
          "The checkpoint stands at job %d, but the plan %s has %d jobs: it is not the plan of this run."
              .formatted(position, directory.file(Plan.FILE).name(), total));
    }
    return new PlannedJobs(plan, total, position);
  }

  /** Jobs of all epochs, up to the limit. */
  long total() {
    return total;
  }

  /** The next {@code most} jobs, or fewer at the end. */
  synchronized List<ExtractionJob> read(int most) throws IOException {
    List<ExtractionJob> jobs = new ArrayList<>(most);
    while (jobs.size() < most && position < total) {
      if (closed) {
        throw new IOException("The list of jobs was closed.");
      }
      jobs.add(next());
    }
    return jobs;
  }

  private ExtractionJob next() throws IOException {
    if (list == null || !list.hasNext()) {
      closeList();
      int epoch = plan.epochOf(position);
      list = plan.jobList(epoch).iteratorFrom(position - plan.firstJob(epoch));
    }
    try {
      Job job = list.next();
      int index = Math.toIntExact(job.index());
      return new ExtractionJob(
          position++, job.epoch(), index, job.bucket(), job.sequences(), job.tokens());
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  private void closeList() throws IOException {
    if (list != null) {
      list.close();
      list = null;
    }
  }

  @Override
  public synchronized void close() throws IOException {
    closed = true;
    closeList();
  }
}
