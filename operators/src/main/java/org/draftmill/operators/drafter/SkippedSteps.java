package org.draftmill.operators.drafter;

import java.util.List;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.draftmill.serializers.StepMarker;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counts the steps of a run that all drafters skipped together, since a value was not finite or too
 * large, and fails the run when there are more than allowed. Every drafter counts the same. Steps
 * are added by the computing thread.
 */
final class SkippedSteps {
  private static final Logger LOG = LoggerFactory.getLogger(SkippedSteps.class);

  private final long most;
  private volatile long found;

  /**
   * @param most that a run may have, {@code drafter.max-skipped-steps}
   * @param before that it had up to its last checkpoint
   */
  SkippedSteps(long most, long before) {
    this.most = most;
    found = before;
  }

  /** Of the whole run. */
  long found() {
    return found;
  }

  /**
   * @throws SuppressRestartsException if this is one too many: the same step would come out the
   *     same again
   */
  void add(long step, List<StepMarker> markers) {
    found++;
    List<Long> jobs =
        markers.stream()
            .flatMap(marker -> marker.releases().stream())
            .filter(release -> !release.tombstone())
            .map(release -> release.job().position())
            .toList();
    LOG.warn(
        "Step {} is skipped, its loss or gradient is not finite or too large: the jobs {} change"
            + " nothing. {} of at most {} skipped steps.",
        step,
        jobs,
        found,
        most);
    if (found > most) {
      throw new SuppressRestartsException(
          new IllegalStateException(
              "Step %d was skipped, its loss or gradient is not finite or too large, and with it %d steps, more than the %d that %s allows; its jobs are %s. Lower %s, or allow more: the same command then goes on from the last checkpoint."
                  .formatted(
                      step,
                      found,
                      most,
                      DrafterOptions.MAX_SKIPPED_STEPS.key(),
                      jobs,
                      DrafterOptions.LEARNING_RATE.key())));
    }
  }
}
