package org.draftmill.operators.pool;

import org.apache.flink.runtime.operators.coordination.CoordinationRequest;

/**
 * The long poll of a subtask of the pool: what it has, and what it has done with the last answer.
 * Only the answer to its latest poll counts.
 *
 * @param subtask index of the pool's subtask
 * @param attempt attempt number of that subtask
 * @param number number of the poll within the attempt, rising
 * @param acknowledged number of the last poll whose demand was served, -1 for none
 * @param checkpoint the last checkpoint whose barrier this subtask has sent on, or was restored
 *     from
 * @param aborted the last checkpoint known to be aborted; its barrier, if it still comes, is not
 *     sent on
 * @param step the first step that one of its shards still has to release; {@link #ENDED} when all
 *     is released
 * @param offers whether a release of that step is at hand
 * @param known the gate as this subtask knows it; the answer comes at once when it is another
 */
public record Poll(
    int subtask,
    int attempt,
    long number,
    long acknowledged,
    long checkpoint,
    long aborted,
    long step,
    boolean offers,
    Gate known)
    implements CoordinationRequest {

  /** The step of a subtask that has released everything. */
  public static final long ENDED = Long.MAX_VALUE;

  boolean ended() {
    return step == ENDED;
  }

  /** Whether this poll is of a later attempt, or of the same one and later. */
  boolean isAfter(Poll other) {
    return attempt != other.attempt ? attempt > other.attempt : number > other.number;
  }
}
