package org.draftmill.operators.pool;

import java.io.Serializable;

/**
 * What a subtask of the pool has to know of the others.
 *
 * @param openStep the step that may be released now: every shard has released all earlier ones; -1
 *     as long as not every subtask has been heard
 * @param aligned whether this subtask has sent on every checkpoint's barrier that another one has;
 *     else it must not hold back its input, in which that barrier still is
 * @param supplied whether every subtask that still releases something of the open step has it at
 *     hand, so that the step waits for no job
 */
public record Gate(long openStep, boolean aligned, boolean supplied) implements Serializable {

  /** Nothing may be released yet. */
  public static final Gate CLOSED = new Gate(-1, false, false);
}
