package org.draftmill.operators.pool;

import java.util.function.Consumer;

/**
 * A subtask's line to the {@link DemandBoard}: keeps one poll open, polls anew when the last one
 * does not say any more how things stand, and hands the demand in an answer to the pool.
 */
final class DemandLine {
  private final int subtask;
  private final int attempt;
  private final boolean alone;
  private final Pool pool;
  private final Consumer<Poll> sender;
  private Poll latest;
  private boolean open; // the latest poll has no answer yet
  private long acknowledged = -1;
  private long checkpoint;
  private long aborted = -1;

  /**
   * @param checkpoint the subtask was restored from, or less than that of any checkpoint to come
   * @param alone see {@link Pool}
   * @param sender sends a poll; its answer is to come to {@link #answered} or {@link #lost}
   */
  DemandLine(
      int subtask, int attempt, long checkpoint, boolean alone, Pool pool, Consumer<Poll> sender) {
    this.subtask = subtask;
    this.attempt = attempt;
    this.checkpoint = checkpoint;
    this.alone = alone;
    this.pool = pool;
    this.sender = sender;
  }

  /** To be called whenever the pool may have changed. */
  void update() {
    if (isClosed() || (open && !isOutdated())) {
      return;
    }
    long number = latest == null ? 0 : latest.number() + 1;
    latest =
        new Poll(
            subtask,
            attempt,
            number,
            acknowledged,
            checkpoint,
            aborted,
            pool.step(),
            pool.offers(),
            pool.gate());
    open = true;
    sender.accept(latest);
  }

  /** The subtask sends a checkpoint's barrier on. */
  void barrier(long newCheckpoint) {
    checkpoint = newCheckpoint;
    update();
  }

  /** A checkpoint was aborted: its barrier will not be sent on, if it was not yet. */
  void abort(long abortedCheckpoint) {
    aborted = Math.max(aborted, abortedCheckpoint);
    update();
  }

  /** Takes an answer. One that is not to the latest poll counts for neither side. */
  void answered(Poll poll, Answer answer) {
    if (poll != latest || !open) {
      return;
    }
    open = false;
    pool.know(answer.gate());
    if (answer.demand().isPresent() && pool.serve(answer.demand().get())) {
      acknowledged = poll.number();
    }
    update();
  }

  /** The answer to a poll will not come. */
  void lost(Poll poll) {
    if (poll == latest) {
      open = false;
      update();
    }
  }

  /** Whether the board knows that everything is released. */
  boolean isClosed() {
    return latest != null && latest.ended() && !open;
  }

  private boolean isOutdated() {
    return latest.step() != pool.step()
        || (pool.offers() && !latest.offers())
        || (!alone && (latest.checkpoint() != checkpoint || latest.aborted() != aborted));
  }
}
