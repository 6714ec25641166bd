package org.draftmill.operators.drafter.state;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.OptionalLong;

/**
 * Decides which checkpoints' files may go. It counts only checkpoints whose completion it was told
 * of since this attempt began, and keeps one more than the run retains, for Flink tells of a
 * completion before it has discarded the oldest one; so it errs on the side of keeping.
 */
public final class Retention {
  private final int keep;
  private final Deque<Long> completed = new ArrayDeque<>();

  /**
   * @param retained completed checkpoints that the run retains
   */
  public Retention(int retained) {
    this.keep = Math.max(1, retained) + 1;
  }

  /** A checkpoint completed; the answer is the first one whose files must stay, if any may go. */
  public OptionalLong completed(long checkpoint) {
    completed.add(checkpoint);
    while (completed.size() > keep) {
      completed.poll();
    }
    return completed.size() < keep ? OptionalLong.empty() : OptionalLong.of(completed.peek());
  }
}
