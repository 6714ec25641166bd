package org.draftmill.operators.pool;

import java.io.Serializable;

/**
 * What a subtask of the pool has to know of the others.
 *
 * @param openStep the step that may be released now: every shard has released all earlier ones; -1
 *     as long as not every subtask has been heard
 * @param aligned whether no subtask has let a checkpoint's barrier pass that another one still has
 *     to let in; only then may a full pool hold back its input
 */
public record Gate(long openStep, boolean aligned) implements Serializable {

  /** Nothing may be released yet. */
  public static final Gate CLOSED = new Gate(-1, false);
}
