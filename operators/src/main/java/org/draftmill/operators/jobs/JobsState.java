package org.draftmill.operators.jobs;

import java.util.List;

/**
 * Where the list of jobs stands in a checkpoint; small whatever the length of the list.
 *
 * @param next position of the next job that was not yet handed out
 * @param returned jobs that were handed out and came back, lowest position first
 */
record JobsState(long next, List<ExtractionJob> returned) {
  static final JobsState START = new JobsState(0, List.of());

  JobsState {
    returned = List.copyOf(returned);
  }
}
